//! The shortcut changes no result.

use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::{Case, Sending};
use crate::packet::flight::Framing;
use crate::packet::lines::Trains;

/// A small generator of numbers, so that a seed names a system.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % below
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.roll(choices.len() as u64)).unwrap()]
    }
}

fn random_case(seed: u64) -> Case {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    dice.roll(2);
    let n_links = 2 + dice.roll(7);
    let rates: &[f64] = match dice.roll(3) {
        0 => &[50.0],
        1 => &[50.0, 450.0, 100.0],
        _ => &[50.0, 49.9, 33.333, 450.0, 7.77],
    };
    let links = (0..n_links)
        .map(|_| {
            let byte = ByteTime::at(GbPerSec::new(dice.one_of(rates)));
            let latency = dice.one_of(&[1, 7, 1000, 500_000, 499_999, 123_456]);
            (byte, SimTime::from_ps(latency))
        })
        .collect();
    let routes = (0..=dice.roll(6))
        .map(|_| {
            let mut left: Vec<u32> = (0..u32::try_from(n_links).unwrap()).collect();
            let hops = 1 + dice.roll(n_links.min(4));
            let pick = |_| {
                let at = dice.roll(left.len() as u64);
                left.swap_remove(usize::try_from(at).unwrap())
            };
            (0..hops).map(pick).collect()
        })
        .collect::<Vec<Vec<u32>>>();
    let n_messages = 1 + dice.roll(12);
    let spread = dice.one_of(&[1, 10_000, 1_000_000, 50_000_000]);
    let messages = (0..n_messages)
        .map(|_| Sending {
            at: SimTime::from_ps(dice.roll(spread)),
            route: usize::try_from(dice.roll(routes.len() as u64)).unwrap(),
            bytes: match dice.roll(6) {
                0 => dice.roll(3),
                1 => 1344 * dice.roll(40),
                _ => dice.roll(60_000),
            },
            pace: match dice.roll(3) {
                0 => ByteTime::at(GbPerSec::new(dice.one_of(&[6.25, 50.0, 21.3]))),
                _ => ByteTime::ZERO,
            },
        })
        .collect();
    let framing = Framing {
        segment: dice.one_of(&[1344, 1000, 4096, 1 << 20]),
        overhead: u32::try_from(dice.one_of(&[0_u64, 58])).unwrap(),
    };
    Case {
        framing,
        links,
        routes,
        messages,
    }
}

#[test]
fn trains_change_no_time() {
    let (mut with, mut without) = (0, 0);
    for seed in 1..4_000 {
        let case = random_case(seed);
        let (trains, steps) = case.run(Trains::On);
        let (packets, more_steps) = case.run(Trains::Off);
        assert_eq!(trains, packets, "seed {seed}: {case:#?}");
        assert_eq!(trains.0.len(), 2 * case.messages.len(), "seed {seed}");
        with += steps;
        without += more_steps;
    }
    assert!(
        with < without,
        "{with} steps with trains, {without} without"
    );
}

#[test]
fn a_message_alone_takes_its_closed_form() {
    let at = |rate: f64| ByteTime::at(GbPerSec::new(rate));
    let latency = SimTime::from_ps(500_000);
    for rates in [[50.0, 50.0, 50.0], [450.0, 33.3, 100.0], [7.77, 50.0, 7.78]] {
        for bytes in [0, 1, 1343, 1344, 1345, 1_000_000, 123_456_789] {
            for pace in [ByteTime::ZERO, at(5.0), at(50.0)] {
                let case = Case {
                    framing: Framing {
                        segment: 1344,
                        overhead: 0,
                    },
                    links: rates.map(|rate| (at(rate), latency)).to_vec(),
                    routes: vec![vec![0, 1, 2]],
                    messages: vec![Sending {
                        at: SimTime::from_ps(1234),
                        route: 0,
                        bytes,
                        pace,
                    }],
                };
                let slowest = rates.map(at).into_iter().chain([pace]).max().unwrap();
                let expected = SimTime::from_ps(1234) + latency.times(3) + slowest.of_bytes(bytes);
                assert_eq!(case.arrival(0), expected, "{rates:?}, {bytes}, {pace:?}");
                let (_, steps) = case.run(Trains::On);
                assert!(steps <= 16, "{steps} steps for {bytes} bytes");
            }
        }
    }
}
