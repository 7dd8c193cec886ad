//! A layered layout for control-flow graphs: nodes in ranks from the entry down,
//! ordered so that few edges cross, and edges as straight lines from rank to rank.
//!
//! ```text
//!     rank 0        entry
//!                     │
//!     rank 1         if ─┐        an edge over several ranks
//!                     │  │        has a place of its own in each
//!     rank 2         x=1 ╎
//!                     │  │
//!     rank 3        return
//! ```
//!
//! Edges that close a loop are turned round for the layout and drawn upwards.
//! The same graph has the same layout every time.

/// Between neighbours of a rank.
const GAP: f64 = 24.0;
/// Between an edge and its neighbour.
const EDGE_GAP: f64 = 12.0;
/// Between ranks, for the edges and their names.
const RANK_GAP: f64 = 52.0;
/// The same for every way out of a node beyond two, which lead far aside, up to so many.
const WAY_GAP: f64 = 8.0;
const MOST_WAYS: usize = 12;
/// Around the whole.
const MARGIN: f64 = 20.0;
/// Up to so many nodes a picture can be taken in at all.
pub const MOST_NODES: usize = 700;
/// The same with the places of long edges.
const MOST_PLACES: usize = 20_000;
/// How often the order of the ranks is looked at again.
const ORDER_ROUNDS: usize = 12;
/// The same for where in its rank each one stands.
const PLACE_ROUNDS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub width: f64,
    pub height: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Where everything is.
#[derive(Debug)]
pub struct Layout {
    pub size: Size,
    /// The upper left corner of each node.
    pub nodes: Vec<Point>,
    /// For each edge, the points that its line goes through; none if it leads from a
    /// node to itself.
    pub edges: Vec<Vec<Point>>,
}

/// A graph that no picture is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{nodes} nodes and {edges} edges are too many for a picture")]
pub struct TooLarge {
    pub nodes: usize,
    pub edges: usize,
}

/// Lays out a graph whose first node is the entry. Edges are pairs of nodes.
pub fn layout(sizes: &[Size], edges: &[(usize, usize)]) -> Result<Layout, TooLarge> {
    let too_large = TooLarge { nodes: sizes.len(), edges: edges.len() };
    if sizes.len() > MOST_NODES || edges.len() > 8 * MOST_NODES {
        return Err(too_large);
    }
    let (down, visited) = without_loops(sizes.len(), edges);
    let ranks = ranks(sizes.len(), &down);
    let places: usize = down.iter().flatten().map(|(a, b)| ranks[*b] - ranks[*a] - 1).sum();
    if sizes.len() + places > MOST_PLACES {
        return Err(too_large);
    }
    let mut layers = Layers::new(sizes, &down, &ranks, &visited);
    layers.order();
    layers.place();
    Ok(layers.finish(sizes, edges, &down))
}

/// Edges such that none closes a loop, each from above to below; `None` for one
/// from a node to itself. And the nodes in the order of a search from the entry.
fn without_loops(
    count: usize,
    edges: &[(usize, usize)],
) -> (Vec<Option<(usize, usize)>>, Vec<usize>) {
    let mut out = vec![Vec::new(); count];
    for (number, (from, _)) in edges.iter().enumerate() {
        out[*from].push(number);
    }
    let mut down: Vec<_> = edges.iter().map(|(a, b)| (a != b).then_some((*a, *b))).collect();
    let (mut is_seen, mut is_open) = (vec![false; count], vec![false; count]);
    let mut visited = Vec::with_capacity(count);
    for root in 0..count {
        if is_seen[root] {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            if *next == 0 && !is_seen[node] {
                (is_seen[node], is_open[node]) = (true, true);
                visited.push(node);
            }
            let Some(edge) = out[node].get(*next) else {
                is_open[node] = false;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = edges[*edge].1;
            if is_open[to] {
                down[*edge] = (to != node).then_some((to, node));
            } else if !is_seen[to] {
                stack.push((to, 0));
            }
        }
    }
    (down, visited)
}

/// The length of a longest way to each node.
fn ranks(count: usize, down: &[Option<(usize, usize)>]) -> Vec<usize> {
    let mut out = vec![Vec::new(); count];
    let mut waits_for = vec![0; count];
    for (from, to) in down.iter().flatten() {
        out[*from].push(*to);
        waits_for[*to] += 1;
    }
    let mut ranks = vec![0; count];
    let mut todo: Vec<usize> = (0..count).filter(|node| waits_for[*node] == 0).collect();
    while let Some(node) = todo.pop() {
        for to in &out[node] {
            ranks[*to] = ranks[*to].max(ranks[node] + 1);
            waits_for[*to] -= 1;
            if waits_for[*to] == 0 {
                todo.push(*to);
            }
        }
    }
    ranks
}

/// What stands in the ranks: nodes by their numbers, and behind these the places
/// of long edges.
struct Layers {
    nodes: usize,
    sizes: Vec<Size>,
    ranks: Vec<Vec<usize>>,
    /// Neighbours in the rank above and below.
    up: Vec<Vec<usize>>,
    down: Vec<Vec<usize>>,
    /// For each edge, its places from above to below.
    chains: Vec<Vec<usize>>,
    /// Middle of each.
    x: Vec<f64>,
}

impl Layers {
    fn new(
        sizes: &[Size],
        down: &[Option<(usize, usize)>],
        rank: &[usize],
        visited: &[usize],
    ) -> Self {
        let height = rank.iter().max().map_or(0, |last| last + 1);
        let mut layers = Self {
            nodes: sizes.len(),
            sizes: sizes.to_vec(),
            ranks: vec![Vec::new(); height],
            up: vec![Vec::new(); sizes.len()],
            down: vec![Vec::new(); sizes.len()],
            chains: vec![Vec::new(); down.len()],
            x: Vec::new(),
        };
        let mut edges_of = vec![Vec::new(); sizes.len()];
        for (number, edge) in down.iter().enumerate() {
            if let Some((from, to)) = edge {
                edges_of[*from].push((number, *to));
            }
        }
        for node in visited {
            layers.ranks[rank[*node]].push(*node);
            for (edge, to) in &edges_of[*node] {
                layers.add_edge(*edge, *node, *to, rank);
            }
        }
        layers
    }

    fn add_edge(&mut self, edge: usize, from: usize, to: usize, rank: &[usize]) {
        let mut last = from;
        for between in rank[from] + 1..rank[to] {
            let place = self.sizes.len();
            self.sizes.push(Size { width: 0.0, height: 0.0 });
            self.up.push(Vec::new());
            self.down.push(Vec::new());
            self.ranks[between].push(place);
            self.chains[edge].push(place);
            self.link(last, place);
            last = place;
        }
        self.link(last, to);
    }

    fn link(&mut self, above: usize, below: usize) {
        self.down[above].push(below);
        self.up[below].push(above);
    }

    /// Puts each rank in the order of its neighbours, downwards and upwards in
    /// turn, and keeps the order with the fewest crossings.
    fn order(&mut self) {
        let mut position = self.positions();
        let (mut best, mut fewest) = (self.ranks.clone(), self.crossings(&position));
        for round in 0..ORDER_ROUNDS {
            if fewest == 0 {
                break;
            }
            let is_down = round % 2 == 0;
            let count = self.ranks.len();
            for step in 1..count {
                let rank = if is_down { step } else { count - 1 - step };
                let beside = if is_down { &self.up } else { &self.down };
                let wish = |item: &usize| {
                    let own = position[*item] as f64;
                    let near = &beside[*item];
                    let sum: usize = near.iter().map(|other| position[*other]).sum();
                    if near.is_empty() { own } else { sum as f64 / near.len() as f64 }
                };
                let mut order: Vec<(f64, usize)> =
                    self.ranks[rank].iter().map(|item| (wish(item), *item)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.ranks[rank] = order.into_iter().map(|(_, item)| item).collect();
                for (place, item) in self.ranks[rank].iter().enumerate() {
                    position[*item] = place;
                }
            }
            let crossings = self.crossings(&position);
            if crossings < fewest {
                (best, fewest) = (self.ranks.clone(), crossings);
            }
        }
        self.ranks = best;
    }

    fn positions(&self) -> Vec<usize> {
        let mut position = vec![0; self.sizes.len()];
        for rank in &self.ranks {
            for (place, item) in rank.iter().enumerate() {
                position[*item] = place;
            }
        }
        position
    }

    fn crossings(&self, position: &[usize]) -> usize {
        let mut total = 0;
        for pair in self.ranks.windows(2) {
            let mut ends: Vec<usize> = Vec::new();
            for item in &pair[0] {
                let from = ends.len();
                ends.extend(self.down[*item].iter().map(|below| position[*below]));
                ends[from..].sort_unstable();
            }
            total += inversions(&ends, pair[1].len());
        }
        total
    }

    /// Draws each one towards its neighbours, as far as the order allows.
    fn place(&mut self) {
        self.x = vec![0.0; self.sizes.len()];
        for rank in &self.ranks {
            let mut right = 0.0;
            for (place, item) in rank.iter().enumerate() {
                let before = place.checked_sub(1).map(|before| rank[before]);
                right = before.map_or(0.0, |before| right + self.apart(before, *item));
                self.x[*item] = right;
            }
        }
        for round in 0..PLACE_ROUNDS {
            let count = self.ranks.len();
            for step in 0..count {
                let rank = if round % 2 == 0 { step } else { count - 1 - step };
                // In the last rounds both sides count.
                let sides = match (round + 2 >= PLACE_ROUNDS, round % 2) {
                    (true, _) => (true, true),
                    (false, 0) => (true, false),
                    _ => (false, true),
                };
                self.place_rank(rank, sides);
            }
        }
    }

    fn apart(&self, left: usize, right: usize) -> f64 {
        let gap = if left < self.nodes && right < self.nodes { GAP } else { EDGE_GAP };
        (self.sizes[left].width + self.sizes[right].width) / 2.0 + gap
    }

    /// How much an edge between two ranks wants to be upright: the places of a
    /// long edge the most.
    fn pull(&self, a: usize, b: usize) -> f64 {
        match (a < self.nodes, b < self.nodes) {
            (true, true) => 1.0,
            (false, false) => 8.0,
            _ => 2.0,
        }
    }

    /// Puts a rank where the sum of squared distances to the wished places is least:
    /// neighbours that would come too near to each other move as one block.
    fn place_rank(&mut self, rank: usize, (above, below): (bool, bool)) {
        let items = &self.ranks[rank];
        let mut offset = 0.0;
        let mut offsets = Vec::with_capacity(items.len());
        // A block: how many there are in it, their weight, and where it wants to be.
        let mut blocks: Vec<(usize, f64, f64)> = Vec::new();
        for (place, item) in items.iter().enumerate() {
            if let Some(before) = place.checked_sub(1) {
                offset += self.apart(items[before], *item);
            }
            offsets.push(offset);
            let up = self.up[*item].iter().filter(|_| above);
            let near = up.chain(self.down[*item].iter().filter(|_| below));
            let (mut weight, mut sum) = (0.0, 0.0);
            for other in near {
                let pull = self.pull(*item, *other);
                weight += pull;
                sum += pull * self.x[*other];
            }
            if weight == 0.0 {
                (weight, sum) = (0.1, 0.1 * self.x[*item]);
            }
            blocks.push((1, weight, sum / weight - offset));
            while let [.., (_, _, left), (_, _, right)] = blocks[..]
                && left > right
                && let Some((count, weight, wish)) = blocks.pop()
                && let Some(last) = blocks.last_mut()
            {
                let total = last.1 + weight;
                *last = (last.0 + count, total, (last.1 * last.2 + weight * wish) / total);
            }
        }
        let wishes = blocks.iter().flat_map(|(count, _, wish)| std::iter::repeat_n(*wish, *count));
        let placed: Vec<f64> = wishes.zip(offsets).map(|(wish, offset)| wish + offset).collect();
        for (item, x) in self.ranks[rank].iter().zip(placed) {
            self.x[*item] = x;
        }
    }

    fn finish(
        self,
        sizes: &[Size],
        edges: &[(usize, usize)],
        down: &[Option<(usize, usize)>],
    ) -> Layout {
        let left = |item: usize| self.x[item] - self.sizes[item].width / 2.0;
        let least = (0..self.sizes.len()).map(left).fold(f64::INFINITY, f64::min);
        let shift = if least.is_finite() { MARGIN - least } else { MARGIN };
        let mut top = MARGIN;
        // For each item, the top and the bottom of its rank.
        let mut band = vec![(0.0, 0.0); self.sizes.len()];
        let mut gap = 0.0;
        for rank in &self.ranks {
            let height = rank.iter().map(|item| self.sizes[*item].height).fold(0.0, f64::max);
            rank.iter().for_each(|item| band[*item] = (top, top + height));
            let ways = rank.iter().map(|item| self.down[*item].len()).max().unwrap_or(0);
            gap = RANK_GAP + WAY_GAP * ways.saturating_sub(2).min(MOST_WAYS) as f64;
            top += height + gap;
        }
        let nodes: Vec<Point> = (0..self.nodes)
            .map(|node| Point { x: (left(node) + shift).round(), y: band[node].0.round() })
            .collect();
        let ports = self.ports(down, shift);
        let lines = edges.iter().enumerate().map(|(number, (from, _))| {
            let Some((above, below)) = down[number] else { return Vec::new() };
            let (out, into) = ports[number];
            let mut line = vec![Point { x: out, y: nodes[above].y + sizes[above].height }];
            // Past higher neighbours of its rank before it may turn aside.
            let bottom = band[above].1.round();
            if bottom > line[0].y {
                line.push(Point { x: out, y: bottom });
            }
            for place in &self.chains[number] {
                let x = (self.x[*place] + shift).round();
                let (top, bottom) = band[*place];
                line.extend([top, bottom].map(|y| Point { x, y: y.round() }));
            }
            line.push(Point { x: into, y: nodes[below].y });
            if *from != above {
                line.reverse();
            }
            line
        });
        let edges: Vec<Vec<Point>> = lines.collect();
        let rights = nodes.iter().zip(sizes).map(|(at, size)| at.x + size.width);
        let rights = rights.chain(edges.iter().flatten().map(|point| point.x));
        let width = rights.fold(0.0, f64::max) + MARGIN;
        let height = (top - gap).max(0.0) + MARGIN;
        Layout { size: Size { width: width.ceil(), height: height.ceil() }, nodes, edges }
    }

    /// Where each edge leaves the node above it and meets the one below: side by
    /// side, in the order of where they come from.
    fn ports(&self, down: &[Option<(usize, usize)>], shift: f64) -> Vec<(f64, f64)> {
        let mut ports = vec![(0.0, 0.0); down.len()];
        let mut out: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.nodes];
        let mut into = out.clone();
        for (number, edge) in down.iter().enumerate() {
            let Some((above, below)) = edge else { continue };
            let chain = &self.chains[number];
            out[*above].push((self.x[*chain.first().unwrap_or(below)], number));
            into[*below].push((self.x[*chain.last().unwrap_or(above)], number));
        }
        for (is_out, all) in [(true, out), (false, into)] {
            for (node, mut edges) in all.into_iter().enumerate() {
                edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let width = self.sizes[node].width;
                let step = width / (edges.len() + 1) as f64;
                for (place, (_, number)) in edges.into_iter().enumerate() {
                    let x = self.x[node] + shift - width / 2.0 + step * (place + 1) as f64;
                    let port = &mut ports[number];
                    *(if is_out { &mut port.0 } else { &mut port.1 }) = x.round();
                }
            }
        }
        ports
    }
}

/// Pairs that stand the wrong way round, among numbers below `count`.
fn inversions(numbers: &[usize], count: usize) -> usize {
    let mut tree = vec![0usize; count + 1];
    let mut total = 0;
    for (seen, number) in numbers.iter().enumerate() {
        let mut not_larger = 0;
        let mut at = number + 1;
        while at > 0 {
            not_larger += tree[at];
            at &= at - 1;
        }
        total += seen - not_larger;
        at = number + 1;
        while at <= count {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Size = Size { width: 80.0, height: 30.0 };

    fn of(count: usize, edges: &[(usize, usize)]) -> Layout {
        let layout = layout(&vec![BOX; count], edges).unwrap();
        assert_eq!((layout.nodes.len(), layout.edges.len()), (count, edges.len()));
        for (a, at) in layout.nodes.iter().enumerate() {
            assert!(at.x >= 0.0 && at.x + BOX.width <= layout.size.width, "{layout:?}");
            assert!(at.y >= 0.0 && at.y + BOX.height <= layout.size.height, "{layout:?}");
            for other in &layout.nodes[a + 1..] {
                let apart = (at.x - other.x).abs() >= BOX.width || at.y != other.y;
                assert!(apart, "nodes on top of each other: {layout:?}");
            }
        }
        layout
    }

    #[test]
    fn a_way_is_a_column() {
        let layout = of(4, &[(0, 2), (2, 3), (3, 1)]);
        assert!(layout.nodes.iter().all(|at| at.x == layout.nodes[0].x), "{layout:?}");
        assert!(layout.nodes[0].y < layout.nodes[2].y && layout.nodes[3].y < layout.nodes[1].y);
    }

    #[test]
    fn branches_stand_side_by_side_and_meet_below() {
        let layout = of(5, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(layout.nodes[2].y, layout.nodes[3].y);
        assert!(layout.nodes[2].x < layout.nodes[3].x, "the first way is on the left");
        assert!(layout.nodes[4].y > layout.nodes[2].y);
    }

    #[test]
    fn a_loop_goes_up_again() {
        let layout = of(4, &[(0, 1), (1, 2), (2, 1), (1, 3)]);
        let back = &layout.edges[2];
        assert!(back[0].y > back[back.len() - 1].y, "{back:?}");
        assert!(of(2, &[(0, 1), (1, 1)]).edges[1].is_empty(), "to itself");
    }

    #[test]
    fn a_long_edge_passes_nodes_by() {
        let layout = of(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        let long = &layout.edges[3];
        assert!(long.len() > 2);
        for at in &layout.nodes[1..3] {
            for point in long {
                let within = point.x > at.x && point.x < at.x + BOX.width;
                assert!(!within || point.y <= at.y || point.y >= at.y + BOX.height, "{layout:?}");
            }
        }
    }

    #[test]
    fn an_edge_passes_higher_neighbours_of_its_rank() {
        // Beside a high node, a low one whose edge leads below the high one.
        let high = Size { width: 80.0, height: 120.0 };
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (2, 5), (2, 6)];
        let sizes = [BOX, high, BOX, BOX, BOX, BOX, BOX];
        let layout = layout(&sizes, &edges).unwrap();
        let bottom = layout.nodes[1].y + high.height;
        for line in &layout.edges[3..] {
            let own = line[0].x;
            assert!(line.iter().all(|point| point.y >= bottom || point.x == own), "{layout:?}");
        }
    }

    #[test]
    fn what_is_not_reached_has_a_place_too() {
        of(4, &[(0, 1), (2, 3), (3, 2)]);
        of(1, &[]);
        assert_eq!(layout(&[], &[]).unwrap().nodes.len(), 0);
    }

    #[test]
    fn edges_need_not_cross() {
        // Whichever order the edges come in.
        let layout = of(6, &[(0, 1), (0, 2), (1, 4), (1, 3), (2, 5), (2, 4)]);
        let x = |node: usize| layout.nodes[node].x;
        assert!(x(1) < x(2) && x(3) < x(4) && x(4) < x(5), "{layout:?}");
    }

    #[test]
    fn large_graphs_are_refused_and_wide_ones_take_no_time() {
        let chain: Vec<(usize, usize)> = (0..5000).map(|n| (n, n + 1)).collect();
        let refused = layout(&vec![BOX; 5001], &chain).unwrap_err();
        assert_eq!(refused, TooLarge { nodes: 5001, edges: 5000 });
        // Every edge is as long as the graph: the places would be too many.
        let mut long: Vec<(usize, usize)> = (0..600).map(|n| (n, n + 1)).collect();
        long.extend((0..300).map(|n| (n, 600)));
        assert!(layout(&vec![BOX; 601], &long).is_err());
        // A switch with many cases.
        let mut switch: Vec<(usize, usize)> = (1..600).map(|n| (0, n)).collect();
        switch.extend((1..600).map(|n| (n, 600)));
        of(601, &switch);
    }

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(&[0, 1, 2], 3), 0);
        assert_eq!(inversions(&[2, 1, 0], 3), 3);
        assert_eq!(inversions(&[1, 1, 0], 2), 2);
    }
}
