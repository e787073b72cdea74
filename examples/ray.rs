//! A ray tracer that two threads run over the rows of one picture, with a checksum over all pixels.
//!
//! Source: the Ray benchmark of the Java Grande suite, whose race on `checksum1` is the bug that Razavi, Farzan and
//! Holzer (2012) find: each thread adds its part under a lock, but each has a lock of its own.
//!
//! Threads: the two halves of the picture. Whichever is done last validates the checksum. One read of it, of the number
//! of rows that are done, sees the other thread's write; the other's part of the checksum is lost.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const WIDTH: u32 = 4;
const HEIGHT: u32 = 4;
const CHECKSUM: u64 = 554;

#[derive(Clone, Copy)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

impl Vector {
    fn minus(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }

    fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }
}

#[derive(Clone)]
struct Sphere {
    centre: Vector,
    radius: f64,
    brightness: f64,
}

impl Sphere {
    /// How far away a ray from the eye in this direction, a unit vector, hits the sphere.
    fn hit(&self, eye: Vector, direction: Vector) -> Option<f64> {
        let towards = self.centre.minus(eye);
        let along = towards.dot(direction);
        let beside = towards.dot(towards) - along * along;
        let depth = self.radius * self.radius - beside;
        (depth > 0.0 && along > 0.0).then(|| along - depth.sqrt())
    }
}

/// The brightness, 0 to 255, of the nearest sphere that the pixel shows.
fn trace(spheres: &[Sphere], column: u32, row: u32) -> u64 {
    let eye = Vector {
        x: 0.0,
        y: 0.0,
        z: -4.0,
    };
    let ray = Vector {
        x: f64::from(column) + 0.5 - f64::from(WIDTH) / 2.0,
        y: f64::from(row) + 0.5 - f64::from(HEIGHT) / 2.0,
        z: 4.0,
    };
    let length = ray.dot(ray).sqrt();
    let direction = Vector {
        x: ray.x / length,
        y: ray.y / length,
        z: ray.z / length,
    };
    let hits = spheres
        .iter()
        .filter_map(|sphere| Some((sphere.hit(eye, direction)?, sphere.brightness)));
    let nearest = hits.min_by(|(near, _), (far, _)| near.total_cmp(far));
    nearest.map_or(0, |(distance, brightness)| {
        (255.0 * brightness / distance.max(1.0)) as u64
    })
}

fn scene() -> Vec<Sphere> {
    let sphere = |x, y, z, brightness| Sphere {
        centre: Vector { x, y, z },
        radius: 1.5,
        brightness,
    };
    vec![sphere(-1.0, -1.0, 1.0, 1.0), sphere(1.0, 0.5, 0.0, 0.5)]
}

#[derive(Default)]
struct RayTracer {
    checksum1: AtomicU64,
    rows_done: AtomicU32,
}

impl RayTracer {
    /// Renders some rows. The scene is this thread's own, and so is its lock.
    fn render(&self, rows: std::ops::Range<u32>) {
        let share = rows.len() as u32;
        let scene = Mutex::new(scene());
        {
            let spheres = scene.lock().unwrap();
            let checksum: u64 = rows
                .flat_map(|row| (0..WIDTH).map(move |column| (column, row)))
                .map(|(column, row)| trace(&spheres, column, row))
                .sum();
            let so_far = self.checksum1.load(Ordering::Relaxed);
            self.checksum1.store(so_far + checksum, Ordering::Relaxed);
        }

        if self.rows_done.fetch_add(share, Ordering::SeqCst) + share == HEIGHT {
            self.validate();
        }
    }

    fn validate(&self) {
        let checksum = self.checksum1.load(Ordering::Relaxed);
        assert_eq!(checksum, CHECKSUM, "the picture's checksum is wrong");
    }
}

#[test]
fn two_halves_of_a_picture() {
    let tracer = Arc::new(RayTracer::default());
    let upper = {
        let tracer = Arc::clone(&tracer);
        thread::spawn(move || tracer.render(0..HEIGHT / 2))
    };
    let lower = {
        let tracer = Arc::clone(&tracer);
        thread::spawn(move || tracer.render(HEIGHT / 2..HEIGHT))
    };
    upper.join().unwrap();
    lower.join().unwrap();
}
