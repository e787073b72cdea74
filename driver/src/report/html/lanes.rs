//! The interleaving: a line for each thread from top to bottom, the original source lines beside them in the order in
//! which they are executed, and arrows from writes to the reads of other threads that see them.
//!
//! Every row draws its own piece of the lines and arrows, stretched to the row's height: so rows may be as high as
//! their text needs, on any screen, without a script.

use std::collections::HashSet;

use maud::{Markup, html};

use super::text::{clean, code_marks, named, object, place, unlocks, verb};
use crate::model::document::Site;
use crate::model::schedule::Action;
use crate::report::reasonless::GOES_ON;
use crate::report::scene::{Event, Scene, colour};

/// The number of rows above which rows are folded where nothing happens between threads.
const LONG: usize = 300;
/// The number of rows that are drawn of a long interleaving whose threads take turns all the time: a browser has to be
/// able to open the page.
const MOST: usize = 1000;
/// The number of consecutive events on one line above which only the first and the last events are listed.
const LISTED: usize = 12;
/// The number of rows that stay around a row that matters.
const CONTEXT: usize = 3;
/// The number of arrows side by side; further arrows are described in words only.
const TRACKS: usize = 10;

/// The height in a row at which events and arrows are, in pixels.
const NODE: u32 = 17;
const GAP: u32 = 16;

/// Consecutive events of one thread on one source line.
struct Row<'a> {
    lane: usize,
    site: Option<&'a Site>,
    events: Vec<usize>,
    /// The remark at the end of the schedule.
    mark: Option<&'a str>,
}

/// An arrow from a row to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrow {
    from: usize,
    to: usize,
    /// The column of the arrow.
    track: usize,
    pair: Option<u32>,
    /// Whether the arrow stands for a lock that goes from one thread to another, not for a value that is read.
    lock: bool,
}

/// Draws the interleaving.
pub(super) fn interleaving(scene: &Scene<'_>) -> Markup {
    let rows = rows(scene);
    let kept = keep(scene, &rows);
    let (arrows, left_out) = arrows(scene, &rows, &kept);
    let graph = Graph::new(scene.lanes.len(), &arrows);
    let two = scene.lanes.len() == 2;
    let mut files = rows
        .iter()
        .filter_map(|row| row.site)
        .map(|site| &site.file);
    let first = files.next();
    let several = files.any(|file| Some(file) != first);
    html! {
        div class=(if two { "lanes two" } else { "lanes many" }) style=(format!("--graph:{}px", graph.width)) {
            div class="heads" aria-hidden="true" {
                @for (at, lane) in scene.lanes.iter().enumerate() {
                    div class=(format!("head {}", colour(at))) {
                        b { (clean(&lane.tag)) }
                        span { (code_marks(&lane.title)) }
                    }
                }
            }
            ol {
                @for piece in pieces(&kept) {
                    @match piece {
                        Piece::Row(at) => (graph.row(scene, &rows[at], at, &arrows, several)),
                        Piece::Gap(from, to) => {
                            li class="gap" {
                                (graph.through(from, &arrows))
                                div class="what" { "… " (to - from) " more lines …" }
                            }
                        }
                    }
                }
            }
        }
        @if left_out > 0 {
            p class="note" { (left_out) " more reads see values of other threads than there is room for arrows: the lines say from where." }
        }
    }
}

fn rows<'a>(scene: &'a Scene<'a>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let line = |site: Option<&Site>| site.map(|site| (site.file.clone(), site.line));
    for (at, event) in scene.events.iter().enumerate() {
        let same = rows.last().is_some_and(|row: &Row<'_>| {
            row.lane == event.lane && row.site.is_some() && line(row.site) == line(event.site)
        });
        match rows.last_mut() {
            Some(row) if same => row.events.push(at),
            _ => rows.push(Row {
                lane: event.lane,
                // A guard releases its lock where the guard goes out of scope; the known place is the one where the
                // lock was taken.
                site: event.site.filter(|_| !event.releases()),
                events: vec![at],
                mark: None,
            }),
        }
    }
    for mark in &scene.marks {
        let same = rows.last().is_some_and(|row| {
            row.lane == mark.lane
                && row.mark.is_none()
                && mark.pending.is_none()
                && line(row.site) == line(mark.site)
        });
        match rows.last_mut() {
            Some(row) if same => row.mark = Some(&mark.remark),
            _ => rows.push(Row {
                lane: mark.lane,
                site: mark.site,
                events: Vec::new(),
                mark: Some(&mark.remark),
            }),
        }
    }
    rows
}

/// Returns the arrows from writes to the reads of other threads, and the number of arrows for which there is no room.
fn arrows(scene: &Scene<'_>, rows: &[Row<'_>], kept: &[bool]) -> (Vec<Arrow>, usize) {
    let mut row_of = vec![0; scene.events.len()];
    for (at, row) in rows.iter().enumerate() {
        for &event in &row.events {
            row_of[event] = at;
        }
    }
    let mut arrows = Vec::new();
    for (at, event) in scene.events.iter().enumerate() {
        let Some(from) = event
            .from
            .filter(|&from| scene.events[from].lane != event.lane)
        else {
            continue;
        };
        // Where a lock and its value have one number, the value's own events say what is read.
        let lock = event.acquires();
        arrows.push(Arrow {
            from: row_of[from],
            to: row_of[at],
            track: usize::MAX,
            pair: event.pair,
            lock,
        });
    }
    // A lock's arrow is left out where an arrow for a value comes from the same thread to the same row.
    let values: HashSet<_> = arrows
        .iter()
        .filter(|a| !a.lock)
        .map(|a| (a.to, rows[a.from].lane))
        .collect();
    arrows.retain(|arrow| !arrow.lock || !values.contains(&(arrow.to, rows[arrow.from].lane)));
    arrows.sort_by_key(|arrow| (arrow.from, arrow.to, arrow.pair.is_none()));
    arrows.dedup_by_key(|arrow| (arrow.from, arrow.to));
    // Arrows of the explanation come first, then short arrows.
    arrows.sort_by_key(|arrow| (arrow.pair.is_none(), arrow.lock, arrow.to - arrow.from));
    let all = arrows.len();
    // Where not all rows that matter are drawn, there are too many arrows from or to rows that are not drawn.
    let drawn = kept.iter().filter(|kept| **kept).count();
    arrows
        .retain(|arrow| drawn < MOST || arrow.pair.is_some() || kept[arrow.from] && kept[arrow.to]);
    let mut tracks: Vec<Vec<(usize, usize)>> = Vec::new();
    for arrow in &mut arrows {
        let free = |track: &Vec<(usize, usize)>| {
            track
                .iter()
                .all(|&(from, to)| arrow.to < from || to < arrow.from)
        };
        let track = tracks.iter().position(free).unwrap_or(tracks.len());
        if track == TRACKS {
            continue;
        }
        if track == tracks.len() {
            tracks.push(Vec::new());
        }
        tracks[track].push((arrow.from, arrow.to));
        arrow.track = track;
    }
    arrows.retain(|arrow| arrow.track != usize::MAX);
    let left_out = all - arrows.len();
    (arrows, left_out)
}

/// Returns which rows of a long interleaving are shown.
fn keep(scene: &Scene<'_>, rows: &[Row<'_>]) -> Vec<bool> {
    if rows.len() <= LONG {
        return vec![true; rows.len()];
    }
    let mut keep = vec![false; rows.len()];
    let mut around = |at: usize, context: usize| {
        let end = (at + context + 1).min(rows.len());
        keep[at.saturating_sub(context)..end].fill(true);
    };
    around(0, CONTEXT);
    around(rows.len() - 1, 2 * CONTEXT);
    let mut turns = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let paired = row
            .events
            .iter()
            .any(|&event| scene.events[event].pair.is_some());
        if paired || row.mark.is_some() {
            around(at, CONTEXT);
        } else if at > 0 && rows[at - 1].lane != row.lane {
            turns.push(at);
        }
    }
    // The last rows matter more: they lead to the end.
    let mut drawn = keep.iter().filter(|kept| **kept).count();
    for &at in turns.iter().rev() {
        for row in [at - 1, at] {
            if drawn < MOST && !std::mem::replace(&mut keep[row], true) {
                drawn += 1;
            }
        }
    }
    keep
}

enum Piece {
    Row(usize),
    Gap(usize, usize),
}

fn pieces(kept: &[bool]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < kept.len() {
        let gap = kept[at..].iter().take_while(|kept| !**kept).count();
        if gap > 1 {
            pieces.push(Piece::Gap(at, at + gap));
            at += gap;
        } else {
            pieces.push(Piece::Row(at));
            at += 1;
        }
    }
    pieces
}

/// The lines of threads and the arrows.
struct Graph {
    /// The horizontal position of each thread's line, in pixels.
    lanes: Vec<u32>,
    /// The horizontal position of the first track, in pixels.
    tracks: u32,
    width: u32,
}

impl Graph {
    fn new(lanes: usize, arrows: &[Arrow]) -> Self {
        let tracks = arrows
            .iter()
            .map(|arrow| arrow.track + 1)
            .max()
            .unwrap_or(0);
        let [lanes_n, tracks_n] = [lanes, tracks].map(|n| u32::try_from(n).unwrap_or_default());
        if lanes == 2 {
            let right = GAP + (tracks_n + 1).max(2) * GAP;
            return Self {
                lanes: vec![GAP, right],
                tracks: 2 * GAP,
                width: right + GAP,
            };
        }
        Self {
            lanes: (0..lanes_n).map(|lane| GAP + lane * GAP * 5 / 4).collect(),
            tracks: GAP + lanes_n * GAP * 5 / 4,
            width: GAP + lanes_n * GAP * 5 / 4 + tracks_n * GAP,
        }
    }

    fn track(&self, track: usize) -> u32 {
        self.tracks + u32::try_from(track).unwrap_or_default() * GAP
    }

    /// Draws the lines and arrows that pass through a row without beginning or ending there.
    fn lines(&self, at: usize, arrows: &[Arrow]) -> Markup {
        html! {
            @for (lane, x) in self.lanes.iter().enumerate() {
                line class=(format!("lane {}", colour(lane))) x1=(x) y1="0" x2=(x) y2="100%" {}
            }
            @for arrow in arrows.iter().filter(|arrow| arrow.from < at && at < arrow.to) {
                @let x = self.track(arrow.track);
                line class=(class(arrow)) x1=(x) y1="0" x2=(x) y2="100%" {}
            }
        }
    }

    fn through(&self, at: usize, arrows: &[Arrow]) -> Markup {
        html! {
            div class="graph" aria-hidden="true" { svg width=(self.width) height="100%" { (self.lines(at, arrows)) } }
        }
    }

    fn row(
        &self,
        scene: &Scene<'_>,
        row: &Row<'_>,
        at: usize,
        arrows: &[Arrow],
        several: bool,
    ) -> Markup {
        let x = self.lanes[row.lane];
        let own = colour(row.lane);
        let paired = row
            .events
            .iter()
            .any(|&event| scene.events[event].pair.is_some());
        let state = match (row.mark, paired) {
            (Some(_), _) => " fails",
            (None, true) => " paired",
            (None, false) => "",
        };
        let (out, into) = (NODE + 4, NODE - 4);
        html! {
            li class=(format!("row in{}{state}", usize::from(row.lane > 0))) {
                div class="graph" aria-hidden="true" {
                    svg width=(self.width) height="100%" {
                        (self.lines(at, arrows))
                        @for arrow in arrows.iter().filter(|arrow| arrow.from == at) {
                            @let track = self.track(arrow.track);
                            path class=(class(arrow)) d=(format!("M{x} {out}H{}Q{track} {out} {track} {}", if track > x { track - 6 } else { track + 6 }, out + 6)) {}
                            line class=(class(arrow)) x1=(track) y1=(out + 6) x2=(track) y2="100%" {}
                        }
                        @for arrow in arrows.iter().filter(|arrow| arrow.to == at) {
                            @let track = self.track(arrow.track);
                            @let (near, tip, back) = if track > x { (track - 6, x + 6, x + 13) } else { (track + 6, x - 6, x - 13) };
                            line class=(class(arrow)) x1=(track) y1="0" x2=(track) y2=(into - 6) {}
                            path class=(class(arrow)) d=(format!("M{track} {}Q{track} {into} {near} {into}H{back}", into - 6)) {}
                            path class=(format!("{} tip", class(arrow))) d=(format!("M{tip} {into}L{back} {}V{}Z", into - 4, into + 4)) {}
                        }
                        @if row.mark.is_some() {
                            circle class="node fail" cx=(x) cy=(NODE) r="7" {}
                            path class="cross" d=(format!("M{} {}l5 5m0 -5l-5 5", f64::from(x) - 2.5, f64::from(NODE) - 2.5)) {}
                        } @else {
                            circle class=(format!("node {own}")) cx=(x) cy=(NODE) r=(if paired { "6" } else { "4.5" }) {}
                        }
                    }
                }
                div class="what" {
                    p class="source" {
                        span class=(format!("tag {own}")) { span class="vh" { "Thread " } (clean(&scene.lanes[row.lane].tag)) }
                        @if let Some(site) = row.site {
                            span class="line" title=(place(site)) {
                                span class="vh" { ", line " }
                                @if several { (clean(site.file.rsplit('/').next().unwrap_or(&site.file))) ":" }
                                (site.line)
                            }
                            code { (clean(&site.text)) }
                        } @else if let Some(&event) = row.events.first() {
                            @if scene.events[event].releases() {
                                em { (code_marks(&unlocks(&scene.events[event], scene.places))) }
                            }
                        }
                    }
                    @if row.events.iter().any(|&event| !scene.events[event].releases()) {
                        ul class="events" {
                            @let (first, last) = listed(&row.events);
                            @for &event in first { (self::event(scene, &scene.events[event])) }
                            @if !last.is_empty() { li { "… " (row.events.len() - first.len() - last.len()) " more …" } }
                            @for &event in last { (self::event(scene, &scene.events[event])) }
                        }
                    }
                    @if let Some(mark) = row.mark { p class="mark" { (code_marks(mark)) } }
                }
            }
        }
    }
}

/// Returns the first and the last events of a row that are listed; no last ones if the first ones are all.
fn listed(events: &[usize]) -> (&[usize], &[usize]) {
    if events.len() <= 2 * LISTED + 1 {
        return (events, &[]);
    }
    (&events[..LISTED], &events[events.len() - LISTED..])
}

const fn class(arrow: &Arrow) -> &'static str {
    match (arrow.pair, arrow.lock) {
        (Some(_), _) => "arrow paired",
        (None, false) => "arrow",
        (None, true) => "arrow hands",
    }
}

/// Describes what one event of a row does.
fn event(scene: &Scene<'_>, event: &Event<'_>) -> Markup {
    if event.reasonless {
        return html! { li { (GOES_ON) } };
    }
    let from = event.from.map(|from| &scene.events[from]);
    let foreign = from.filter(|from| from.lane != event.lane);
    let place = |of: &Event<'_>| {
        of.site
            .map(|site| format!(" at {}", scene.places.name(site)))
            .unwrap_or_default()
    };
    let source = match (foreign, from) {
        (Some(from), _) if event.reads() => Some(format!(
            "{}written by {}{}",
            if event.action == Action::Update {
                "what was "
            } else {
                ""
            },
            named(&scene.lanes[from.lane].tag),
            place(from)
        )),
        (Some(from), _) if event.finds_taken() => Some(format!(
            "taken by {}{}",
            named(&scene.lanes[from.lane].tag),
            place(from)
        )),
        (None, None) if event.reads() => Some("the initial value".to_owned()),
        _ => None,
    };
    // For an update it is not stated whether the value is the old or the new one.
    let updates = event.action == Action::Update;
    let class = match event.pair {
        Some(_) => format!("paired {}", colour(event.lane)),
        None => String::new(),
    };
    html! {
        li class=(class) {
            @if let Some(pair) = event.pair { b class="number" { (pair + 1) } " " }
            (verb(event.action))
            @if let Some(object) = object(event) { " " code { (object) } }
            @if let Some(value) = event.value { (if updates { " · " } else { " = " }) code { (clean(value)) } }
            @if let Some(source) = source { span class="from" { (if updates { ", seeing " } else { ", " }) (clean(&source)) } }
        }
    }
}
