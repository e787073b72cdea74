//! A ray tracer with a checksum: `../ray.rs` with the bug taken out.
//!
//! The checksum has a lock of its own, which both threads take.

use std::sync::atomic::{AtomicU32, Ordering};
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
    checksum1: Mutex<u64>,
    rows_done: AtomicU32,
}

impl RayTracer {
    /// Renders some rows.
    fn render(&self, rows: std::ops::Range<u32>) {
        let share = rows.len() as u32;
        let spheres = scene();
        let checksum: u64 = rows
            .flat_map(|row| (0..WIDTH).map(move |column| (column, row)))
            .map(|(column, row)| trace(&spheres, column, row))
            .sum();
        *self.checksum1.lock().unwrap() += checksum;

        if self.rows_done.fetch_add(share, Ordering::SeqCst) + share == HEIGHT {
            self.validate();
        }
    }

    fn validate(&self) {
        let checksum = *self.checksum1.lock().unwrap();
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
