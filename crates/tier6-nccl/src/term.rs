//! The terms of a formula, one by one, as a reader would redo them by hand.
//!
//! The model computes through a [`Trace`]: each operation rounds as NCCL rounds, and, when
//! somebody asked for an explanation, is written down. So the explanation cannot differ from
//! the result.

/// One operation of a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// What the operand is.
    pub name: &'static str,
    /// What is done with it.
    pub operation: Operation,
    /// The value after the operation.
    pub result: f32,
}

/// What a term does with the value before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    /// Starts with a value.
    Start(f64),
    /// Multiplies.
    Times(f64),
    /// Divides.
    Over(f64),
    /// Adds `each`, `times` times.
    Plus {
        /// How often.
        times: f64,
        /// The summand.
        each: f64,
    },
    /// Lowers the value to a limit.
    AtMost(f64),
    /// Puts another value in its place.
    Replace(f64),
}

/// Somebody who writes terms down, or nobody: without a listener a formula is only its
/// arithmetic.
pub(crate) trait Trace {
    /// Writes down an operation whose result was computed elsewhere.
    fn note(&mut self, name: &'static str, operation: Operation, result: f32) -> f32;

    /// Starts with `value`.
    fn start(&mut self, name: &'static str, value: f32) -> f32 {
        self.note(name, Operation::Start(f64::from(value)), value)
    }

    /// Starts again with `value`.
    fn replace(&mut self, name: &'static str, value: f32) -> f32 {
        self.note(name, Operation::Replace(f64::from(value)), value)
    }

    /// Multiplies two singles.
    fn times(&mut self, name: &'static str, value: f32, factor: f32) -> f32 {
        self.note(name, Operation::Times(f64::from(factor)), value * factor)
    }

    /// Multiplies by a double and rounds.
    fn scale(&mut self, name: &'static str, value: f32, factor: f64) -> f32 {
        let result = single(f64::from(value) * factor);
        self.note(name, Operation::Times(factor), result)
    }

    /// Divides by a double and rounds.
    fn divide(&mut self, name: &'static str, value: f32, divisor: f64) -> f32 {
        let result = single(f64::from(value) / divisor);
        self.note(name, Operation::Over(divisor), result)
    }

    /// Lowers the value to a limit in double precision.
    fn cap(&mut self, name: &'static str, value: f32, limit: f64) -> f32 {
        let result = if limit < f64::from(value) {
            single(limit)
        } else {
            value
        };
        self.note(name, Operation::AtMost(limit), result)
    }
}

/// Nobody listens.
pub(crate) struct Silent;

impl Trace for Silent {
    #[inline]
    fn note(&mut self, _name: &'static str, _operation: Operation, result: f32) -> f32 {
        result
    }
}

impl Trace for Vec<Term> {
    fn note(&mut self, name: &'static str, operation: Operation, result: f32) -> f32 {
        self.push(Term {
            name,
            operation,
            result,
        });
        result
    }
}

/// Rounds to single precision, as a store to a C `float` does.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to single precision is the purpose"
)]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}
