//! A logarithmic axis.

use maud::{Markup, html};

/// The exponents of the first and the last power of ten, and the pixels over which the axis extends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

/// The least value that is drawn; smaller values are drawn as this one, since a logarithmic axis has no zero.
const LEAST: f64 = 1e-6;

impl Log {
    /// Returns the axis on which all these values are.
    pub(super) fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let powers = values.map(|value| value.max(LEAST).log10());
        let (low, high) = powers.fold((f64::MAX, f64::MIN), |(low, high), power| {
            (low.min(power), high.max(power))
        });
        if low > high {
            return None;
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "powers of ten of finite numbers"
        )]
        let (low, high) = (low.floor() as i32, high.ceil() as i32);
        Some(Self {
            low,
            high: high.max(low + 1),
            from,
            to,
        })
    }

    /// Returns the pixel of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let power = value.max(LEAST).log10();
        let part = (power - f64::from(self.low)) / f64::from(self.high - self.low);
        ((self.from + part * (self.to - self.from)) * 10.0).round() / 10.0
    }

    /// Draws the grid's lines, and the powers of ten below them.
    pub(super) fn draw(&self, top: f64, bottom: f64, unit: &str, seconds: bool) -> Markup {
        let every = ((self.high - self.low) / 8 + 1).max(1);
        html! {
            g class="grid" {
                @for power in self.low..=self.high {
                    @let x = self.at(10.0_f64.powi(power));
                    line x1=(x) y1=(top) x2=(x) y2=(bottom) {}
                    @if (power - self.low) % every == 0 {
                        text x=(x) y=(bottom + 16.0) text-anchor="middle" { (number(power, seconds)) }
                    }
                }
                text class="unit" x=((self.from + self.to) / 2.0) y=(bottom + 36.0) text-anchor="middle" { (unit) }
            }
        }
    }
}

/// Returns a power of ten as people write it.
fn number(power: i32, seconds: bool) -> String {
    match (power, seconds) {
        (..=-4, true) => format!("{} µs", 10.0_f64.powi(power + 6).round()),
        (-3..=-1, true) => format!("{} ms", 10.0_f64.powi(power + 3).round()),
        (0..=3, true) => format!("{} s", 10.0_f64.powi(power)),
        (0..=3, false) => format!("{}", 10.0_f64.powi(power)),
        (4..=5, false) => format!("{}k", 10.0_f64.powi(power - 3)),
        (6..=8, false) => format!("{}M", 10.0_f64.powi(power - 6)),
        _ => format!("1e{power}"),
    }
}
