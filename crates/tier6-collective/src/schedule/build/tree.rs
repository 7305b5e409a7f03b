//! Pipelined binary trees, two or one: AllReduce, Broadcast, Reduce.
//!
//! Two trees carry half of the message each, in K pieces (`num_chunks`). Tree 1 is an in-order
//! binary tree rooted at 0; tree 2 is its mirror for even N and its shift by one for odd N, so
//! that few ranks work twice (FACTS B.3, after NCCL's `trees.cc`). AllReduce sums up each tree
//! and copies down. With one piece a level waits for all of M/2: the textbook's lg N M/B. With
//! many, no rank sends more than 2M, for any N.
//!
//! Broadcast and Reduce lay both trees over the other N - 1 ranks; the root feeds, or drains, the
//! two tree roots.
//!
//! The single tree ([`Trees::Single`]) is tree 1 alone, over all ranks and with all of the message;
//! its root is the collective's. An inner rank sends each piece twice: half of the bandwidth.
//!
//! A rank with two children gets the second one's sum in scratch, so that both may arrive at
//! once. Ports, 3 per tree: up, first child, second child.

use crate::Collective;
use crate::schedule::Schedule;
use crate::schedule::draft::Draft;
use crate::schedule::ids::{PortId, Slot};
use crate::schedule::transfer::{Leg, Op, Piece};

use super::{BuildError, Job, Trees, node_tree};

pub(super) fn build(job: &Job) -> Result<Schedule, BuildError> {
    let trees: Vec<Tree> = match (job.options.trees, job.collective) {
        (Trees::OverNodes, _) => return node_tree::build(job),
        (Trees::Double, Collective::AllReduce) => double_tree((0..job.ranks()).collect()).into(),
        (Trees::Double, _) => double_tree(from_root(job, 1)).into(),
        (Trees::Single, _) => vec![single_tree(from_root(job, 0))],
    };
    let n_trees = u32::try_from(trees.len()).expect("Invariant: there are one or two trees");
    let n_chunks = n_trees * job.options.pieces;
    let mut draft = job.in_place_with_scratch(n_chunks, n_chunks);
    for chunk in 0..n_chunks {
        let load = Load::of(&draft, chunk, chunk);
        trees[(chunk % n_trees) as usize].run(&mut draft, job, load);
    }
    Ok(draft.finish())
}

/// Returns the ranks in order from the one `offset` after the root.
fn from_root(job: &Job, offset: u32) -> Vec<u32> {
    (offset..job.ranks()).map(|o| job.after_root(o)).collect()
}

/// A tree over some ranks.
pub(super) struct Tree {
    members: Vec<u32>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Positions, the deepest first.
    upwards: Vec<usize>,
    index: u8,
}

/// The chunk that goes through a tree, and where a second child's sum waits.
#[derive(Clone, Copy)]
pub(super) struct Load {
    chunk: Slot,
    waiting: Slot,
}

/// The links of a rank in a tree.
#[derive(Clone, Copy)]
enum Link {
    Up,
    FirstChild,
    SecondChild,
}

impl Load {
    pub(super) fn of(draft: &Draft, chunk: u32, scratch: u32) -> Self {
        Self {
            chunk: draft.memory().recv(chunk),
            waiting: draft.memory().scratch(scratch),
        }
    }

    const fn piece(self) -> Piece {
        Piece::same(self.chunk, 1)
    }
}

/// Returns the first of the two trees; the first member is its root.
fn single_tree(members: Vec<u32>) -> Tree {
    let n = members.len();
    Tree::new(
        members,
        (0..n).map(|position| parent(n, position)).collect(),
        0,
    )
}

/// Returns both trees over the members.
pub(super) fn double_tree(members: Vec<u32>) -> [Tree; 2] {
    let n = members.len();
    let second = |position: usize| -> Option<usize> {
        if n.is_multiple_of(2) {
            parent(n, n - 1 - position).map(|up| n - 1 - up)
        } else {
            parent(n, (position + n - 1) % n).map(|up| (up + 1) % n)
        }
    };
    let second = (0..n).map(second).collect();
    [single_tree(members.clone()), Tree::new(members, second, 1)]
}

/// Returns the parent of `rank` in the in-order binary tree of `n`: from its lowest set bit b,
/// (rank xor b) | 2b, or rank xor b when that is outside.
fn parent(n: usize, rank: usize) -> Option<usize> {
    if rank == 0 {
        return None;
    }
    let bit = 1 << rank.trailing_zeros();
    let up = (rank ^ bit) | (bit << 1);
    Some(if up < n { up } else { rank ^ bit })
}

impl Tree {
    fn new(members: Vec<u32>, parents: Vec<Option<usize>>, index: u8) -> Self {
        let n = members.len();
        let mut children = vec![Vec::new(); n];
        for (position, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(position);
            }
        }
        let depth =
            |position: usize| std::iter::successors(parents[position], |up| parents[*up]).count();
        let mut upwards: Vec<usize> = (0..n).collect();
        upwards.sort_by_key(|position| std::cmp::Reverse(depth(*position)));
        Self {
            members,
            parents,
            children,
            upwards,
            index,
        }
    }

    fn root(&self) -> u32 {
        let root = self.upwards.last().expect("Invariant: trees have a member");
        self.members[*root]
    }

    const fn port(&self, link: Link) -> PortId {
        PortId(3 * self.index + link as u8)
    }

    /// Adds the collective over the tree; the collective's root, if it has one and the tree has
    /// another, feeds or drains that.
    pub(super) fn run(&self, draft: &mut Draft, job: &Job, load: Load) {
        if job.collective != Collective::Broadcast {
            self.reduce(draft, load);
        }
        let (root, top) = (job.root(), self.root());
        let (src, dst, op) = match job.collective {
            Collective::Reduce => (top, root, Op::Reduce),
            _ => (root, top, Op::Copy),
        };
        if job.collective != Collective::AllReduce && root != top {
            let leg = Leg::send(src, dst, op).through(self.port(Link::Up));
            draft.push(leg, &[load.piece()]);
        }
        if job.collective != Collective::Reduce {
            self.broadcast(draft, load);
        }
    }

    /// Adds the sums up the tree: the tree's root ends with the sum.
    pub(super) fn reduce(&self, draft: &mut Draft, load: Load) {
        for &position in &self.upwards {
            let rank = self.members[position];
            if self.children[position].len() > 1 {
                let arrived = Piece {
                    from: load.waiting,
                    ..load.piece()
                };
                draft.push(Leg::local(rank, Op::Reduce), &[arrived]);
            }
            let Some(parent) = self.parents[position] else {
                continue;
            };
            let is_first = self.children[parent].first() == Some(&position);
            let (op, to) = if is_first {
                (Op::Reduce, load.chunk)
            } else {
                (Op::Copy, load.waiting)
            };
            let leg = Leg::send(rank, self.members[parent], op).through(self.port(Link::Up));
            draft.push(leg, &[Piece { to, ..load.piece() }]);
        }
    }

    /// Adds the copies down the tree from its root.
    pub(super) fn broadcast(&self, draft: &mut Draft, load: Load) {
        for &position in self.upwards.iter().rev() {
            let links = [Link::FirstChild, Link::SecondChild];
            for (child, link) in self.children[position].iter().zip(links) {
                let leg = Leg::send(self.members[position], self.members[*child], Op::Copy);
                draft.push(leg.through(self.port(link)), &[load.piece()]);
            }
        }
    }
}
