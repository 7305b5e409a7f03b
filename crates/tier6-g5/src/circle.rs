//! A circle among things of which each leads to some others: those who wait for each other.

/// How far a search has come with a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    Unseen,
    /// On the way from where the search began to where it is.
    Entered,
    /// Nothing behind it goes round.
    Left,
}

/// Returns some of `count` things that go round in a circle, each of which leads to the next and
/// the last to the first; `None` when there is no circle. Depth first, in the order in which
/// `next_of` tells where a thing leads.
pub(crate) fn circle(count: usize, next_of: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    let mut visits = vec![Visit::Unseen; count];
    for start in 0..count {
        if visits[start] != Visit::Unseen {
            continue;
        }
        visits[start] = Visit::Entered;
        let mut way = vec![(start, next_of(start).into_iter())];
        while let Some((at, ahead)) = way.last_mut() {
            let Some(next) = ahead.next() else {
                visits[*at] = Visit::Left;
                way.pop();
                continue;
            };
            match visits[next] {
                Visit::Unseen => {
                    visits[next] = Visit::Entered;
                    way.push((next, next_of(next).into_iter()));
                }
                Visit::Entered => {
                    let around = way.iter().map(|(at, _)| *at);
                    return Some(around.skip_while(|at| *at != next).collect());
                }
                Visit::Left => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_behind_a_tail() {
        let edges = [vec![1], vec![2, 3], vec![], vec![1]];
        assert_eq!(circle(4, |at| edges[at].clone()), Some(vec![1, 3]));
        let chain = [vec![1], vec![2], vec![]];
        assert_eq!(circle(3, |at| chain[at].clone()), None);
        assert_eq!(circle(1, |_| vec![0]), Some(vec![0]));
    }

    #[test]
    fn two_ways_to_one_place_are_no_circle() {
        let edges = [vec![1, 2], vec![3], vec![3], vec![]];
        assert_eq!(circle(4, |at| edges[at].clone()), None);
    }
}
