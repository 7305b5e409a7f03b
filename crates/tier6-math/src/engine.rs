//! The Math engine: predictions for one call, and all algorithms of a call in order.

use crate::{Parameters, Plan, PlanError, Prediction};
use tier6_collective::{Algorithm, Collective, offers};
use tier6_system::Topology;
use tier6_units::Bytes;

/// Closed forms and link loads. It keeps no state: for many sizes of one call make a [`Plan`]
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MathEngine;

/// The algorithms of a call, the fastest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Predictions by ascending time; equal times in the order of the contract.
    pub predictions: Vec<Prediction>,
    /// Algorithms that offer the collective, but not here, with the reason.
    pub refused: Vec<(Algorithm, PlanError)>,
}

impl MathEngine {
    /// Predicts one call.
    ///
    /// ```
    /// use tier6_collective::{Algorithm, Collective};
    /// use tier6_math::{MathEngine, Parameters};
    /// use tier6_units::Bytes;
    ///
    /// let h100 = tier6_system::preset("h100-x8").unwrap().resolve().unwrap();
    /// let parameters = Parameters::of(&h100);
    /// let ring = MathEngine.predict(
    ///     &h100,
    ///     Collective::AllReduce,
    ///     Algorithm::Ring,
    ///     8,
    ///     Bytes::new(1 << 30),
    ///     &parameters,
    /// )?;
    /// assert_eq!(ring.busbw().unwrap().get().round(), 366.0);
    /// # Ok::<(), tier6_math::PlanError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn predict(
        self,
        topology: &Topology,
        collective: Collective,
        algorithm: Algorithm,
        ranks: u32,
        bytes: Bytes,
        parameters: &Parameters,
    ) -> Result<Prediction, PlanError> {
        let plan = Plan::new(topology, collective, algorithm, ranks, parameters)?;
        Ok(plan.predict(topology, bytes))
    }

    /// Predicts a call by every algorithm that offers it: `--algorithm all`.
    pub fn rank_algorithms(
        self,
        topology: &Topology,
        collective: Collective,
        ranks: u32,
        bytes: Bytes,
        parameters: &Parameters,
    ) -> Ranking {
        let mut ranking = Ranking {
            predictions: Vec::new(),
            refused: Vec::new(),
        };
        let offering = |algorithm: &Algorithm| offers(*algorithm, collective);
        for algorithm in Algorithm::ALL.into_iter().filter(offering) {
            match self.predict(topology, collective, algorithm, ranks, bytes, parameters) {
                Ok(prediction) => ranking.predictions.push(prediction),
                Err(error) => ranking.refused.push((algorithm, error)),
            }
        }
        let time = |prediction: &Prediction| prediction.time().get();
        // Stable, so that equal times stay in order.
        ranking
            .predictions
            .sort_by(|a, b| time(a).total_cmp(&time(b)));
        ranking
    }
}
