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

/// The list of terms, or nobody listening.
#[derive(Debug)]
pub(crate) struct Trace(Option<Vec<Term>>);

impl Trace {
    /// Returns a trace that writes nothing down.
    pub(crate) const fn silent() -> Self {
        Self(None)
    }

    /// Returns a trace that writes every term down.
    pub(crate) const fn listening() -> Self {
        Self(Some(Vec::new()))
    }

    /// Returns what was written down.
    pub(crate) fn into_terms(self) -> Vec<Term> {
        self.0.unwrap_or_default()
    }

    /// Writes down an operation whose result was computed elsewhere.
    pub(crate) fn note(&mut self, name: &'static str, operation: Operation, result: f32) -> f32 {
        if let Some(terms) = &mut self.0 {
            terms.push(Term {
                name,
                operation,
                result,
            });
        }
        result
    }

    /// Starts with `value`.
    pub(crate) fn start(&mut self, name: &'static str, value: f32) -> f32 {
        self.note(name, Operation::Start(f64::from(value)), value)
    }

    /// Starts again with `value`.
    pub(crate) fn replace(&mut self, name: &'static str, value: f32) -> f32 {
        self.note(name, Operation::Replace(f64::from(value)), value)
    }

    /// Multiplies two singles.
    pub(crate) fn times(&mut self, name: &'static str, value: f32, factor: f32) -> f32 {
        self.note(name, Operation::Times(f64::from(factor)), value * factor)
    }

    /// Multiplies by a double and rounds.
    pub(crate) fn scale(&mut self, name: &'static str, value: f32, factor: f64) -> f32 {
        let result = single(f64::from(value) * factor);
        self.note(name, Operation::Times(factor), result)
    }

    /// Divides by a double and rounds.
    pub(crate) fn divide(&mut self, name: &'static str, value: f32, divisor: f64) -> f32 {
        let result = single(f64::from(value) / divisor);
        self.note(name, Operation::Over(divisor), result)
    }

    /// Lowers the value to a limit in double precision.
    pub(crate) fn cap(&mut self, name: &'static str, value: f32, limit: f64) -> f32 {
        let result = if limit < f64::from(value) {
            single(limit)
        } else {
            value
        };
        self.note(name, Operation::AtMost(limit), result)
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
