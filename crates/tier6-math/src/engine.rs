//! The Math engine: predictions for one call, and all algorithms of a call in order.

use crate::{Parameters, Plan, PlanError, Planner, Prediction};
use tier6_collective::{Algorithm, Collective, offers};
use tier6_system::Topology;
use tier6_units::Bytes;

/// Closed forms and link loads. It keeps no state: for many sizes of one call make a [`Plan`]
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MathEngine;

/// The algorithms of a call, or its algorithms and protocols, the fastest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Predictions by ascending time; equal times in the order of the contract, and protocols in
    /// NCCL's.
    pub predictions: Vec<Prediction>,
    /// Algorithms that offer the collective, but not here, with the reason.
    pub refused: Vec<(Algorithm, PlanError)>,
}

impl MathEngine {
    /// Predicts one call, under the protocol of the parameters if they name one.
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

    /// Predicts a call by every algorithm that offers it, under the protocol of the parameters if
    /// they name one.
    pub fn rank_algorithms(
        self,
        topology: &Topology,
        collective: Collective,
        ranks: u32,
        bytes: Bytes,
        parameters: &Parameters,
    ) -> Ranking {
        let mut planner = Planner::new(topology);
        ranked(collective, |algorithm| {
            let plan = planner.plan(collective, algorithm, ranks, parameters)?;
            Ok(vec![plan.predict(topology, bytes)])
        })
    }

    /// Predicts a call by every algorithm that offers it under every protocol that it runs and
    /// the system has steps for: the first one is the fastest path.
    ///
    /// ```
    /// use tier6_collective::{Collective, Protocol};
    /// use tier6_math::{MathEngine, Parameters};
    /// use tier6_units::Bytes;
    ///
    /// let a100 = tier6_system::preset("a100-x8").unwrap().resolve().unwrap();
    /// let parameters = Parameters::of(&a100);
    /// let fastest = |bytes| {
    ///     let all = MathEngine.rank_paths(&a100, Collective::AllReduce, 8, bytes, &parameters);
    ///     all.predictions[0].protocol
    /// };
    /// assert_eq!(fastest(Bytes::new(8)), Some(Protocol::Ll));
    /// assert_eq!(fastest(Bytes::new(1 << 30)), Some(Protocol::Simple));
    /// ```
    pub fn rank_paths(
        self,
        topology: &Topology,
        collective: Collective,
        ranks: u32,
        bytes: Bytes,
        parameters: &Parameters,
    ) -> Ranking {
        let mut planner = Planner::new(topology);
        ranked(collective, |algorithm| {
            let plans = planner.by_protocol(collective, algorithm, ranks, parameters)?;
            let predictions = plans.iter().map(|plan| plan.predict(topology, bytes));
            Ok(predictions.collect())
        })
    }
}

fn ranked(
    collective: Collective,
    mut predict: impl FnMut(Algorithm) -> Result<Vec<Prediction>, PlanError>,
) -> Ranking {
    let mut ranking = Ranking {
        predictions: Vec::new(),
        refused: Vec::new(),
    };
    let offering = |algorithm: &Algorithm| offers(*algorithm, collective);
    for algorithm in Algorithm::ALL.into_iter().filter(offering) {
        match predict(algorithm) {
            Ok(predictions) => ranking.predictions.extend(predictions),
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
