//! Where the names of edges stand in a picture: beside their own line, and where neither a
//! node nor another line nor another name is, as far as there is such a place.

use super::layout::{Point, Size};
use rustc_hash::FxHashMap;

/// Between a name and its line.
const BESIDE: f64 = 5.0;
/// How high a band is, by which neighbours are found.
const BAND: f64 = 48.0;
/// Pieces of a line that its name may stand beside, from where it begins.
const PIECES: usize = 4;
/// How far along a piece, in the order of preference.
const ALONG: [f64; 10] = [0.3, 0.4, 0.5, 0.6, 0.2, 0.7, 0.8, 0.9, 0.95, 0.1];
/// How bad it is to stand on each.
const ON_NODE: u32 = 100;
const ON_NAME: u32 = 40;
const ON_LINE: u32 = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn of(at: Point, size: Size) -> Self {
        Self { left: at.x, top: at.y, right: at.x + size.width, bottom: at.y + size.height }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a straight line passes through: what is left of it between the top and the
    /// bottom is looked at.
    fn is_crossed(&self, a: Point, b: Point) -> bool {
        let (high, low) = if a.y <= b.y { (a, b) } else { (b, a) };
        let (from, to) = (high.y.max(self.top), low.y.min(self.bottom));
        if from > to {
            return false;
        }
        let at = |y: f64| match low.y - high.y {
            0.0 => None,
            height => Some(high.x + (low.x - high.x) * (y - high.y) / height),
        };
        let (one, other) = at(from).zip(at(to)).unwrap_or((high.x, low.x));
        one.min(other) < self.right && one.max(other) > self.left
    }
}

enum Thing {
    Node(Area),
    Name(Area),
    Line(Point, Point),
}

/// All that is drawn already, by bands.
#[derive(Default)]
struct Drawn {
    things: Vec<Thing>,
    bands: FxHashMap<i64, Vec<usize>>,
}

impl Drawn {
    fn add(&mut self, thing: Thing) {
        let (top, bottom) = match &thing {
            Thing::Node(area) | Thing::Name(area) => (area.top, area.bottom),
            Thing::Line(a, b) => (a.y.min(b.y), a.y.max(b.y)),
        };
        for band in bands(top, bottom) {
            self.bands.entry(band).or_default().push(self.things.len());
        }
        self.things.push(thing);
    }

    /// How bad a place is; 0 if nothing is there. More than `most` need not be known.
    fn cost(&self, area: &Area, most: u32) -> u32 {
        let mut cost = 0;
        let near = bands(area.top, area.bottom).filter_map(|band| self.bands.get(&band)).flatten();
        for thing in near.map(|number| &self.things[*number]) {
            cost += match thing {
                Thing::Node(node) if area.meets(node) => ON_NODE,
                Thing::Name(name) if area.meets(name) => ON_NAME,
                Thing::Line(a, b) if area.is_crossed(*a, *b) => ON_LINE,
                _ => 0,
            };
            if cost >= most {
                break;
            }
        }
        cost
    }
}

fn bands(top: f64, bottom: f64) -> std::ops::RangeInclusive<i64> {
    (top / BAND).floor() as i64..=(bottom / BAND).floor() as i64
}

/// A place for the name of each line. A name without width needs none.
pub fn place(nodes: &[Area], lines: &[Vec<Point>], names: &[Size]) -> Vec<Area> {
    let mut drawn = Drawn::default();
    nodes.iter().for_each(|node| drawn.add(Thing::Node(*node)));
    for piece in lines.iter().flat_map(|line| line.windows(2)) {
        drawn.add(Thing::Line(piece[0], piece[1]));
    }
    let places = lines.iter().zip(names).map(|(line, name)| {
        if name.width == 0.0 {
            return Area::default();
        }
        let (mut best, mut least) = (Area::default(), u32::MAX);
        for area in candidates(line, *name) {
            let cost = drawn.cost(&area, least);
            if cost < least {
                (best, least) = (area, cost);
            }
            if least == 0 {
                break;
            }
        }
        drawn.add(Thing::Name(best));
        best
    });
    places.collect()
}

/// Places beside a line that it does not pass through itself, the best first.
fn candidates(line: &[Point], name: Size) -> Vec<Area> {
    let mut found = Vec::new();
    for piece in line.windows(2).take(PIECES) {
        let (a, b) = (piece[0], piece[1]);
        for along in ALONG {
            let (x, y) = (a.x + (b.x - a.x) * along, a.y + (b.y - a.y) * along);
            let half = name.height / 2.0;
            // How far the line goes aside within the height of the name.
            let height = (b.y - a.y).abs();
            let lean = if height > 0.0 { ((b.x - a.x) / height).abs() } else { f64::INFINITY };
            let aside = (half * lean).min((b.x - a.x).abs()) + BESIDE;
            let right = (x + aside, y - half);
            let left = (x - aside - name.width, y - half);
            let sides = if b.x < a.x { [left, right] } else { [right, left] };
            found.extend(sides.map(|(x, y)| Area::of(Point { x, y }, name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Size = Size { width: 60.0, height: 17.0 };

    fn point(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    fn is_free(area: &Area, nodes: &[Area], lines: &[Vec<Point>]) -> bool {
        let pieces = || lines.iter().flat_map(|line| line.windows(2));
        !nodes.iter().any(|node| area.meets(node))
            && !pieces().any(|piece| area.is_crossed(piece[0], piece[1]))
    }

    #[test]
    fn a_line_is_seen_to_pass() {
        let area = Area { left: 10.0, top: 10.0, right: 20.0, bottom: 20.0 };
        assert!(area.is_crossed(point(0.0, 0.0), point(30.0, 30.0)));
        assert!(area.is_crossed(point(30.0, 30.0), point(0.0, 0.0)));
        assert!(area.is_crossed(point(0.0, 15.0), point(30.0, 15.0)));
        assert!(!area.is_crossed(point(0.0, 0.0), point(0.0, 30.0)));
        assert!(!area.is_crossed(point(0.0, 25.0), point(30.0, 25.0)));
        assert!(!area.is_crossed(point(15.0, 21.0), point(15.0, 30.0)));
        assert!(!area.is_crossed(point(0.0, 12.0), point(12.0, 0.0)));
    }

    #[test]
    fn names_stand_where_nothing_else_is() {
        // A condition with two ways out, flat and steep, and one that passes by.
        for (left, right) in [(-120.0, 120.0), (-20.0, 20.0), (-300.0, 5.0)] {
            let nodes = [
                Area { left: -60.0, top: 0.0, right: 60.0, bottom: 40.0 },
                Area { left: left - 50.0, top: 92.0, right: left + 50.0, bottom: 130.0 },
            ];
            let lines = vec![
                vec![point(-20.0, 40.0), point(left, 92.0)],
                vec![point(20.0, 40.0), point(right, 92.0)],
                vec![point(95.0, 0.0), point(95.0, 130.0)],
            ];
            let places = place(&nodes, &lines, &[NAME, NAME, NAME]);
            for area in &places {
                assert!(is_free(area, &nodes, &lines), "{area:?} of {places:?}");
            }
            assert!(!places[0].meets(&places[1]) && !places[1].meets(&places[2]), "{places:?}");
        }
    }

    #[test]
    fn a_name_has_a_place_also_where_none_is_free() {
        let nodes = [Area { left: -500.0, top: -500.0, right: 500.0, bottom: 500.0 }];
        let lines = vec![vec![point(0.0, 0.0), point(0.0, 50.0)], Vec::new()];
        let places = place(&nodes, &lines, &[NAME, Size { width: 0.0, height: 17.0 }]);
        assert!(places[0].left > 0.0, "beside its own line: {places:?}");
        assert_eq!(places[1], Area::default());
    }
}
