//! A plot with a row for each program, and in the row a mark for each method, over a logarithmic axis.

use maud::html;

use super::axis::Log;
use super::{Plot, clean, mark};
use crate::layout::fit;

/// The plot.
#[derive(Clone, Debug)]
pub(crate) struct Dots {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// The text below the axis.
    pub(crate) unit: String,
    /// The names of the methods.
    pub(crate) series: Vec<String>,
    /// The names of the programs, each with its marks.
    pub(crate) rows: Vec<(String, Vec<Dot>)>,
}

/// One mark of the plot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    /// The index of the method.
    pub(crate) series: usize,
    pub(crate) value: f64,
    /// Whether the run was cut, so that the value could have been larger.
    pub(crate) cut: bool,
}

const WIDTH: f64 = 1120.0;
const RIGHT: f64 = 1100.0;
const TOP: f64 = 12.0;
const ROW: f64 = 22.0;
const CHAR: f64 = 6.9;
const LABEL: usize = 40;

impl Dots {
    /// Draws the plot. `None`: there is nothing to draw.
    pub(crate) fn draw(&self) -> Option<Plot> {
        let labels: Vec<_> = self.rows.iter().map(|(name, _)| fit(name, LABEL)).collect();
        #[allow(clippy::cast_precision_loss, reason = "a few dozen at most")]
        let left = labels.iter().map(|label| label.chars().count()).max()? as f64 * CHAR + 16.0;
        let all = self
            .rows
            .iter()
            .flat_map(|(_, dots)| dots.iter().map(|dot| dot.value));
        let x = Log::over(all, left + 10.0, RIGHT - 10.0)?;
        #[allow(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let bottom = TOP + ROW * self.rows.len() as f64;
        let name = |dot: &Dot| {
            let least = if dot.cut { "more than " } else { "" };
            format!("{}: {least}{}", self.series[dot.series], dot.value)
        };
        let content = html! {
            rect class="plane" x=(left) y=(TOP) width=(RIGHT - left) height=(bottom - TOP) {}
            (x.draw(TOP, bottom, &clean(&self.unit), self.unit.starts_with("seconds")))
            @for (at, (row, label)) in self.rows.iter().zip(&labels).enumerate() {
                @let y = TOP + ROW * (at as f64 + 0.5);
                g class="row" {
                    line x1=(left) y1=(y) x2=(RIGHT) y2=(y) {}
                    text x=(left - 8.0) y=(y + 4.0) text-anchor="end" { (label) title { (clean(&row.0)) } }
                    @for dot in &row.1 {
                        g {
                            title { (clean(&name(dot))) }
                            (mark(dot.series, x.at(dot.value), y, dot.cut))
                        }
                    }
                }
            }
        };
        Some(Plot {
            id: self.id,
            title: self.title.clone(),
            description: format!(
                "For each of {} programs a mark for each of {} methods; the table has the numbers.",
                self.rows.len(),
                self.series.len()
            ),
            width: WIDTH,
            height: bottom + 48.0,
            content,
        })
    }
}
