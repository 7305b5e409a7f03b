//! What a step costs beside its bytes, and the two ways to know it from a data sheet.
//!
//! Source document 001 derives the step from chip-level components (method A) and from the links
//! that it crosses (method B). They answer different questions: A is a step that starts from
//! rest, B a step of a running pipeline. Source document 004 asks for both as
//! `alpha_standalone` and `alpha_pipelined`, so a [`StepCost`] holds both.

use tier6_system::StepSpec;
use tier6_units::Micros;

/// What a rank adds to the route's latency in each step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepCost {
    /// In a pipeline that forwards slices: o of FACTS B.2, and the time between pieces.
    pub pipelined: Micros,
    /// When a step starts from rest: the whole start-up.
    pub standalone: Micros,
}

impl StepCost {
    /// A step that costs nothing beside its route.
    pub const FREE: Self = Self::alike(Micros::new(0.0));

    /// Returns a step that costs the same either way.
    pub const fn alike(cost: Micros) -> Self {
        Self {
            pipelined: cost,
            standalone: cost,
        }
    }

    /// Returns the cost that components leave once the flight between the chips, which the route
    /// charges, is taken off: nothing in a pipeline (method B), and memory, network on chip and
    /// die crossings from rest (method A).
    pub fn from_components(step: &StepSpec) -> Self {
        let rest = step.alpha().get() - 2.0 * step.chip_to_chip.value.get();
        Self {
            pipelined: Micros::new(0.0),
            standalone: Micros::new(rest.max(0.0)),
        }
    }
}

/// Returns α of a ring by method A of source document 001: N - 1 steps, each
/// 2 c2c + memory read + memory write + `NoC` + 2 die-to-die.
///
/// Domain: a bound from above. A running ring hides all of it but the flight, and the document
/// itself measures 77 % error with it against 16 % with [`method_b`].
pub fn method_a(ranks: u32, step: &StepSpec) -> Micros {
    Micros::new(f64::from(ranks.saturating_sub(1)) * step.alpha().get())
}

/// Returns α of a ring AllReduce by method B of source document 001: 2(N-1) x hops x link
/// latency, in microseconds; two hops through a switch.
///
/// Domain: messages so small that no step waits for bytes, M < N B h (FACTS B.2).
///
/// ```
/// use tier6_math::method_b;
/// use tier6_units::Micros;
/// let alpha = method_b(8, 2, Micros::new(0.936));
/// assert_eq!(format!("{:.1}", alpha.get()), "26.2");
/// ```
pub fn method_b(ranks: u32, hops: u32, link_latency: Micros) -> Micros {
    let steps = 2.0 * f64::from(ranks.saturating_sub(1));
    Micros::new(steps * f64::from(hops) * link_latency.get())
}
