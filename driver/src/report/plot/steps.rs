//! A plot of the number of tasks done within a limit: a step line for each method, over a logarithmic axis.

use maud::html;

use super::axis::Log;
use super::{Plot, line_class};

/// The plot.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// The text below the axis: `seconds…` or a count.
    pub(crate) unit: String,
    pub(crate) lines: Vec<Line>,
    /// The number of tasks.
    pub(crate) of: usize,
}

/// The line of one method.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// For each task that the method has done, what the task took.
    pub(crate) values: Vec<f64>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 540.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 282.0;

impl Steps {
    /// Draws the plot. `None`: there is nothing to draw.
    pub(crate) fn draw(&self) -> Option<Plot> {
        let all = self
            .lines
            .iter()
            .flat_map(|line| line.values.iter().copied());
        let x = Log::over(all, LEFT, RIGHT - 8.0)?;
        let most = self
            .lines
            .iter()
            .map(|line| line.values.len())
            .max()?
            .max(self.of)
            .max(1);
        #[allow(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let y = |count: usize| {
            ((BOTTOM - count as f64 / most as f64 * (BOTTOM - TOP)) * 10.0).round() / 10.0
        };
        let every = most.div_ceil(6);
        let path = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_by(f64::total_cmp);
            let first = values
                .first()
                .map(|first| format!("M{} {}", x.at(*first), y(0)));
            let mut path = first.unwrap_or_default();
            for (done, value) in values.iter().enumerate() {
                path.push_str(&format!("H{}V{}", x.at(*value), y(done + 1)));
            }
            if !path.is_empty() {
                path.push_str(&format!("H{RIGHT}"));
            }
            path
        };
        let counts: Vec<_> = self
            .lines
            .iter()
            .map(|line| format!("{}: {}", line.name, line.values.len()))
            .collect();
        let content = html! {
            rect class="plane" x=(LEFT) y=(TOP) width=(RIGHT - LEFT) height=(BOTTOM - TOP) {}
            (x.draw(TOP, BOTTOM, &super::clean(&self.unit), self.unit.starts_with("seconds")))
            g class="grid" {
                @for count in (0..=most).step_by(every) {
                    line x1=(LEFT) y1=(y(count)) x2=(RIGHT) y2=(y(count)) {}
                    text x=(LEFT - 8.0) y=(y(count) + 4.0) text-anchor="end" { (count) }
                }
            }
            @for (at, line) in self.lines.iter().enumerate() {
                path class=(line_class(at)) d=(path(&line.values)) { title { (super::clean(&counts[at])) } }
            }
        };
        Some(Plot {
            id: self.id,
            title: self.title.clone(),
            description: format!("Of {}: {}.", self.of, counts.join("; ")),
            width: WIDTH,
            height: HEIGHT,
            content,
        })
    }
}
