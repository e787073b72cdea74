//! Plots with logarithmic axes, as SVG.

mod axis;
mod dots;
mod steps;

use maud::{Markup, PreEscaped, html};

pub(crate) use dots::{Dot, Dots};
pub(crate) use steps::{Line, Steps};

use super::html::text::clean;

/// The styles of a plot in a file of its own; in a page they are part of the page's styles.
const STYLE: &str = concat!(include_str!("../html/colors.css"), include_str!("plot.css"));

/// The number of colours for series; further series have the same colours and other dashes and shapes.
pub(crate) const COLOURS: usize = 8;

/// A drawn plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// The identifier of the plot, unique in its page.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// A description of the plot, for readers who don't see it.
    pub(crate) description: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) content: Markup,
}

impl Plot {
    fn inside(&self) -> Markup {
        html! {
            title id=(format!("{}-title", self.id)) { (clean(&self.title)) }
            desc id=(format!("{}-desc", self.id)) { (clean(&self.description)) }
            (self.content)
        }
    }

    fn labels(&self) -> String {
        format!("{0}-title {0}-desc", self.id)
    }

    /// Returns the plot as a part of a page.
    pub(crate) fn figure(&self) -> Markup {
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" aria-labelledby=(self.labels())
                width=(self.width) height=(self.height) viewBox=(format!("0 0 {} {}", self.width, self.height)) {
                (self.inside())
            }
        }
    }

    /// Returns the plot as a file of its own.
    pub(crate) fn svg(&self) -> String {
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" aria-labelledby=(self.labels())
                width=(self.width) height=(self.height) viewBox=(format!("0 0 {} {}", self.width, self.height)) {
                style { (PreEscaped(STYLE)) }
                rect class="paper" width="100%" height="100%" {}
                (self.inside())
            }
        };
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
            svg.into_string()
        )
    }
}

/// Draws the mark of a series at a place.
fn mark(series: usize, x: f64, y: f64, hollow: bool) -> Markup {
    let class = format!(
        "mark s{}{}",
        series % COLOURS,
        if hollow { " hollow" } else { "" }
    );
    let r = 4.0;
    html! {
        @match (series / COLOURS) % 3 {
            0 => circle class=(class) cx=(x) cy=(y) r=(r) {},
            1 => rect class=(class) x=(x - r) y=(y - r) width=(2.0 * r) height=(2.0 * r) {},
            _ => path class=(class) d=(format!("M{x} {}l5 9h-10z", y - 5.0)) {},
        }
    }
}

/// Draws the key of a series.
pub(crate) fn key(series: usize) -> Markup {
    html! {
        svg class="plot key-mark" width="26" height="12" aria-hidden="true" {
            line class=(line_class(series)) x1="0" y1="6" x2="26" y2="6" {}
            (mark(series, 13.0, 6.0, false))
        }
    }
}

fn line_class(series: usize) -> String {
    format!("series s{} d{}", series % COLOURS, (series / COLOURS) % 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_well_formed_whatever_is_in_them() {
        let hostile = "</svg><script>\"&'\u{0}";
        let steps = Steps {
            id: "a",
            title: hostile.into(),
            unit: hostile.into(),
            lines: (0..30)
                .map(|n| Line {
                    name: hostile.into(),
                    values: vec![0.0, 1e-7, f64::from(n), 1e12],
                })
                .collect(),
            of: 4,
        };
        let dots = Dots {
            id: "b",
            title: hostile.into(),
            unit: "executions".into(),
            series: vec![hostile.into(); 30],
            rows: vec![(
                hostile.into(),
                (0..30)
                    .map(|series| Dot {
                        series,
                        value: 10.0_f64.powi(i32::try_from(series).unwrap()),
                        cut: series % 2 == 0,
                    })
                    .collect(),
            )],
        };
        for plot in [steps.draw(), dots.draw()].into_iter().flatten() {
            let svg = plot.svg();
            roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn nothing_is_no_plot() {
        let steps = Steps {
            id: "a",
            title: "t".into(),
            unit: "u".into(),
            lines: vec![Line {
                name: "n".into(),
                values: Vec::new(),
            }],
            of: 0,
        };
        assert!(steps.draw().is_none());
    }
}
