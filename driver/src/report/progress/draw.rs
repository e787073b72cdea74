//! The progress graph as SVG, and in words for readers who don't see it.

use maud::{Markup, PreEscaped, html};

use super::super::html::text::{clean, event, named, short};
use super::super::scene::{Scene, colour};
use super::{Corner, Graph, Obstacle, Why};

/// The height of the line of an axis label, in pixels.
const LINE: f64 = 13.0;
/// The approximate width of a character in labels, in pixels.
const CHAR: f64 = 6.1;
/// The length of the longest label, in characters.
const LABEL: usize = 30;

/// The styles of the picture in a file of its own; in a page they are part of the page's styles.
pub(crate) const STYLE: &str = concat!(
    include_str!("../html/colors.css"),
    include_str!("graph.css")
);

/// Returns the picture as a file of its own.
#[must_use]
pub fn svg(graph: &Graph, scene: &Scene<'_>) -> String {
    let style = html! { style { (PreEscaped(STYLE)) } };
    let [m, n] = Frame::of(graph, scene).size();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="progress alone" role="img" aria-labelledby="progress-title progress-desc"
                width=(m) height=(n) viewBox=(format!("0 0 {m} {n}")) {
                (style)
                rect class="paper" width="100%" height="100%" {}
                (content(graph, scene))
            }
        }
        .into_string()
    )
}

/// Returns the picture as a part of a page.
#[must_use]
pub fn figure(graph: &Graph, scene: &Scene<'_>) -> Markup {
    let [m, n] = Frame::of(graph, scene).size();
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="progress" role="img" aria-labelledby="progress-title progress-desc"
            width=(m) height=(n) viewBox=(format!("0 0 {m} {n}")) {
            (content(graph, scene))
        }
    }
}

/// Describes each obstacle in words, in the order in which the obstacles are drawn.
#[must_use]
pub fn in_words(graph: &Graph, scene: &Scene<'_>) -> Vec<String> {
    let tag = |thread: usize| scene.lanes[graph.lanes[thread]].tag.as_str();
    let step = |thread: usize, at: usize| {
        let known = graph.events[thread].get(at);
        let text = known.map_or_else(
            || "what it is about to do".to_owned(),
            |&at| event(&scene.events[at], scene.places),
        );
        format!("{} “{text}”", tag(thread))
    };
    let obstacles = graph.plane.obstacles().iter();
    let words = obstacles.map(|obstacle| match obstacle {
        Obstacle::Rectangle(rectangle) => {
            let [a, b] = [0, 1].map(|thread| step(thread, rectangle.blocks[thread].0));
            format!("A lock excludes what follows {a} from what follows {b}.")
        }
        Obstacle::Bar(bar) => {
            let write = step(bar.writer, bar.write);
            let read = step(1 - bar.writer, bar.to);
            match bar.from {
                Some(from) => format!(
                    "{write} does not come between {} and {read}, which sees that.",
                    step(1 - bar.writer, from)
                ),
                None => {
                    format!("{write} does not come before {read}, which sees the initial value.")
                }
            }
        }
        Obstacle::Corner(Corner {
            leader,
            first,
            then,
            why,
        }) => {
            let why = match why {
                Why::ReadsFrom => "whose value it sees",
                Why::Overwrites => "which would overwrite what it sees",
                Why::OwnWrite => "which a later read sees in place of its own",
                Why::FindsTaken => "whose lock it finds taken",
                Why::GivesBack => "which gives the lock back",
                Why::Starts => "which it starts",
                Why::Joins => "for which it waits",
            };
            let (first, then) = (step(*leader, *first), step(1 - leader, *then));
            match obstacle {
                Obstacle::Corner(Corner {
                    why: Why::ReadsFrom | Why::FindsTaken | Why::Joins,
                    ..
                }) => format!("{then} comes after {first}, {why}."),
                _ => format!("{first} comes before {then}, {why}."),
            }
        }
    });
    let mut words: Vec<_> = words.collect();
    let mut seen = std::collections::HashSet::new();
    words.retain(|line| seen.insert(line.clone()));
    words
}

/// The positions and sizes of the picture's parts.
struct Frame {
    /// The width of a step, in pixels.
    cell: f64,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    steps: [usize; 2],
}

impl Frame {
    fn of(graph: &Graph, scene: &Scene<'_>) -> Self {
        let steps = graph.plane.steps();
        let most = steps[0].max(steps[1]) + 1;
        #[allow(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let cell = (620.0 / most as f64).clamp(6.0, 46.0);
        #[allow(clippy::cast_precision_loss, reason = "a few dozen at most")]
        let longest = |thread: usize| {
            let labels = (0..steps[thread]).map(|at| label(graph, scene, thread, at));
            labels.map(|label| label.chars().count()).max().unwrap_or(0) as f64 * CHAR
        };
        // The labels of the first thread stand upright.
        Self {
            cell,
            left: longest(1) + 44.0,
            top: 20.0,
            right: 28.0,
            bottom: longest(0) + 40.0,
            steps,
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a few hundred at most")]
    fn plane(&self) -> [f64; 2] {
        self.steps.map(|steps| (steps + 1) as f64 * self.cell)
    }

    fn size(&self) -> [f64; 2] {
        let [width, height] = self.plane();
        [
            (self.left + width + self.right).max(260.0).round(),
            (self.top + height + self.bottom).round(),
        ]
    }

    /// Returns the position at which a place begins, in pixels.
    #[allow(clippy::cast_precision_loss, reason = "a few hundred at most")]
    fn x(&self, place: f64) -> f64 {
        self.left + place * self.cell
    }

    fn y(&self, place: f64) -> f64 {
        self.top + self.plane()[1] - place * self.cell
    }

    /// Returns the rectangle of places between these bounds in both directions; `None` stands for the edge.
    fn rect(&self, x: [Option<usize>; 2], y: [Option<usize>; 2]) -> [f64; 4] {
        let line = |at: Option<usize>, edge: f64| at.map_or(edge, |at| (at + 1) as f64);
        let end = |thread: usize| (self.steps[thread] + 1) as f64;
        let [x0, x1] = [line(x[0], 0.0), line(x[1], end(0))];
        let [y0, y1] = [line(y[0], 0.0), line(y[1], end(1))];
        [
            self.x(x0),
            self.y(y1),
            self.x(x1) - self.x(x0),
            self.y(y0) - self.y(y1),
        ]
    }
}

/// Returns the label of a step's line.
fn label(graph: &Graph, scene: &Scene<'_>, thread: usize, at: usize) -> String {
    let Some(&event) = graph.events[thread].get(at) else {
        let mark = graph.pending[thread].map(|mark| &scene.marks[mark]);
        let line = mark.and_then(|mark| mark.site).map(|site| site.line);
        return line.map_or_else(|| "next".to_owned(), |line| format!("{line} next"));
    };
    short(&scene.events[event], LABEL)
}

fn content(graph: &Graph, scene: &Scene<'_>) -> Markup {
    let frame = Frame::of(graph, scene);
    let [width, height] = frame.plane();
    let tag = |thread: usize| scene.lanes[graph.lanes[thread]].tag.as_str();
    html! {
        title id="progress-title" { "Progress graph of threads " (tag(0)) " and " (tag(1)) }
        desc id="progress-desc" {
            "The execution is a path from the lower left to the upper right: to the right, " (named(tag(0)))
            " has done more; upwards, " (named(tag(1))) " has. "
            @for line in in_words(graph, scene).iter().take(12) { (line) " " }
        }
        defs {
            pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                rect class="hatch-ground" width="6" height="6" {}
                line class="hatch-line" x1="0" y1="0" x2="0" y2="6" {}
            }
        }
        rect class="plane" x=(frame.left) y=(frame.top) width=(width) height=(height) {}
        (closed(graph, &frame))
        (obstacles(graph, &frame))
        (lines(graph, scene, &frame))
        (path(graph, scene, &frame))
        text class=(format!("axis {}", colour(graph.lanes[0]))) x=(frame.left + width / 2.0) y=(frame.size()[1] - 8.0) text-anchor="middle" { (named(tag(0))) " →" }
        text class=(format!("axis {}", colour(graph.lanes[1]))) transform=(format!("translate(14 {}) rotate(-90)", frame.top + height / 2.0)) text-anchor="middle" { (named(tag(1))) " →" }
    }
}

/// Draws the places that no path with the same reads and locks goes through.
fn closed(graph: &Graph, frame: &Frame) -> Markup {
    let open = graph.plane.open();
    let mut runs = Vec::new();
    for (y, row) in open.iter().enumerate() {
        let mut x = 0;
        while x < row.len() {
            let length = row[x..].iter().take_while(|open| !**open).count();
            if length > 0 {
                runs.push((x, y, length));
            }
            x += length.max(1);
        }
    }
    html! {
        g class="closed" {
            @for (x, y, length) in runs {
                rect x=(frame.x(x as f64)) y=(frame.y((y + 1) as f64))
                    width=(length as f64 * frame.cell) height=(frame.cell) fill="url(#hatch)" {}
            }
        }
    }
}

fn obstacles(graph: &Graph, frame: &Frame) -> Markup {
    let mut corners = Vec::new();
    let mut rectangles = Vec::new();
    let mut bars = Vec::new();
    for obstacle in graph.plane.obstacles() {
        match obstacle {
            Obstacle::Corner(corner) => {
                let (first, then) = (Some(corner.first), Some(corner.then));
                let wrong = [[then, None], [None, first]];
                let [x, y] = if corner.leader == 1 {
                    wrong
                } else {
                    [wrong[1], wrong[0]]
                };
                corners.push((
                    frame.rect(x, y),
                    matches!(corner.why, Why::Starts | Why::Joins),
                ));
            }
            Obstacle::Rectangle(rectangle) => {
                let [x, y] = rectangle.blocks.map(|(open, close)| [Some(open), close]);
                rectangles.push(frame.rect(x, y));
            }
            Obstacle::Bar(bar) => {
                let across = [bar.from, Some(bar.to)];
                let along = [Some(bar.write), Some(bar.write)];
                let [x, y] = if bar.writer == 1 {
                    [across, along]
                } else {
                    [along, across]
                };
                bars.push(frame.rect(x, y));
            }
        }
    }
    let area = |rect: &[f64; 4]| rect[2] * rect[3];
    corners.sort_by(|a, b| area(&b.0).total_cmp(&area(&a.0)));
    corners.dedup();
    rectangles.sort_by(|a, b| area(b).total_cmp(&area(a)));
    html! {
        g class="corners" {
            @for ([x, y, width, height], threads) in &corners {
                rect class=(if *threads { "threads" } else { "order" }) x=(x) y=(y) width=(width) height=(height) {}
            }
        }
        g class="locks" {
            @for [x, y, width, height] in &rectangles { rect x=(x) y=(y) width=(width) height=(height) {} }
        }
        g class="bars" {
            @for [x, y, width, height] in &bars {
                line x1=(x) y1=(y) x2=(x + width) y2=(y + height) {}
            }
        }
    }
}

/// Draws the lines of steps, and their labels.
fn lines(graph: &Graph, scene: &Scene<'_>, frame: &Frame) -> Markup {
    let [width, height] = frame.plane();
    let (left, bottom) = (frame.left, frame.top + height);
    let every = (LINE / frame.cell).ceil().max(1.0) as usize;
    let class = |thread: usize, at: usize| {
        let known = graph.events[thread].get(at).map(|&at| &scene.events[at]);
        match known {
            None => "pending",
            Some(event) if event.pair.is_some() => "paired",
            Some(_) => "plain",
        }
    };
    let labelled =
        |thread: usize, at: usize| at.is_multiple_of(every) || class(thread, at) != "plain";
    html! {
        g class=(format!("steps {}", colour(graph.lanes[0]))) {
            @for at in 0..frame.steps[0] {
                @let x = frame.x((at + 1) as f64);
                line class=(class(0, at)) x1=(x) y1=(frame.top) x2=(x) y2=(bottom) {}
                @if labelled(0, at) {
                    text class=(class(0, at)) text-anchor="end" transform=(format!("translate({} {}) rotate(-90)", x + 4.0, bottom + 6.0)) {
                        (label(graph, scene, 0, at))
                    }
                }
            }
        }
        g class=(format!("steps {}", colour(graph.lanes[1]))) {
            @for at in 0..frame.steps[1] {
                @let y = frame.y((at + 1) as f64);
                line class=(class(1, at)) x1=(left) y1=(y) x2=(left + width) y2=(y) {}
                @if labelled(1, at) {
                    text class=(class(1, at)) text-anchor="end" x=(left - 6.0) y=(y + 4.0) { (label(graph, scene, 1, at)) }
                }
            }
        }
    }
}

/// Draws the path of the execution.
fn path(graph: &Graph, scene: &Scene<'_>, frame: &Frame) -> Markup {
    let middle = |[x, y]: [usize; 2]| [frame.x(x as f64 + 0.5), frame.y(y as f64 + 0.5)];
    let places = graph.plane.path();
    let points: Vec<_> = places.iter().map(|&place| middle(place)).collect();
    let joined: Vec<_> = points.iter().map(|[x, y]| format!("{x},{y}")).collect();
    // The points at which the path crosses the lines of a non-local read and of the write that the read sees.
    let mut crossings = Vec::new();
    for (turn, pair) in points.windows(2).enumerate() {
        let thread = usize::from(places[turn][1] != places[turn + 1][1]);
        let event = graph.events[thread].get(places[turn][thread]);
        let Some(event) = event.map(|&at| &scene.events[at]) else {
            continue;
        };
        let at = [0, 1].map(|i| f64::midpoint(pair[0][i], pair[1][i]));
        crossings.push((at, thread, event));
    }
    let pair = |event: &super::super::scene::Event<'_>| event.pair.map(|pair| pair + 1);
    let radius = (frame.cell / 2.0 - 3.0).clamp(4.0, 9.0);
    let end = points.last().copied().unwrap_or_default();
    let fails = scene.marks.last().map(|mark| mark.remark.as_str());
    html! {
        g class="path" {
            polyline class="halo" points=(joined.join(" ")) {}
            polyline class="way" points=(joined.join(" ")) {}
            circle class="start" cx=(points[0][0]) cy=(points[0][1]) r="4" {}
            @for ([x, y], thread, event) in &crossings {
                @if let Some(number) = pair(event) {
                    g class=(format!("read {}", colour(graph.lanes[*thread]))) {
                        title { (super::super::html::text::event(event, scene.places)) }
                        circle cx=(x) cy=(y) r=(radius) {}
                        @if radius > 5.0 { text x=(x) y=(y + 3.6) text-anchor="middle" { (number) } }
                    }
                } @else {
                    circle class=(format!("dot {}", colour(graph.lanes[*thread]))) cx=(x) cy=(y) r="3" {
                        title { (super::super::html::text::event(event, scene.places)) }
                    }
                }
            }
            g class="end" transform=(format!("translate({} {})", end[0], end[1])) {
                title { (clean(fails.unwrap_or("the end"))) }
                circle r=(radius) {}
                path d="M-3.4 -3.4L3.4 3.4M-3.4 3.4L3.4 -3.4" {}
            }
        }
    }
}
