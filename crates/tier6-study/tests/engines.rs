//! Math and G5 on the same call: with every layer off the simulation equals the closed form where
//! messages meet nobody, and neither undercuts the lower bounds anywhere.

#[path = "engines/chains.rs"]
mod chains;
#[path = "engines/in_switch.rs"]
mod in_switch;
#[path = "engines/presets.rs"]
mod presets;

use proptest::prelude::*;
use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, build, offers};
use tier6_g5::{
    Fabric, FlowNetwork, G5Parameters, Job, Lowered, PacketNetwork, Recording, RunOptions,
    RunResult, run,
};
use tier6_math::{Adder, Parameters, Plan, StepCost, law, lower_bound};
use tier6_system::{ChipId, FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros, SimTime};

const RATE: f64 = 50.0;

fn system(n: u32, fabric: FabricSpec, latency_us: f64) -> Topology {
    let rate = GbPerSec::new(RATE);
    let spec = SystemSpec::uniform(n, fabric, rate, Micros::new(latency_us));
    spec.resolve().unwrap()
}

fn ring() -> FabricSpec {
    FabricSpec::ring()
}

fn crossbar() -> FabricSpec {
    FabricSpec::star()
}

#[derive(Debug, Clone, Copy)]
struct Call {
    collective: Collective,
    algorithm: Algorithm,
    ranks: u32,
    bytes: u64,
    grain: Grain,
}

impl Call {
    fn simulated(self, topology: &Topology, packets: bool) -> RunResult {
        let options = BuildOptions {
            grain: self.grain,
            ..BuildOptions::new(self.ranks, Bytes::new(self.bytes))
        };
        let program = Lowered::new(&build(self.collective, self.algorithm, &options).unwrap());
        let chips: Vec<ChipId> = (0..self.ranks).map(ChipId::new).collect();
        let job = Job {
            program: &program,
            chips: &chips,
            start: SimTime::ZERO,
            flow: 0,
        };
        let parameters = G5Parameters::ideal();
        let mut fabric = Fabric::new(topology, &parameters, &[], 0).unwrap();
        let options = RunOptions {
            critical_path: Recording::Off,
            ..RunOptions::new()
        };
        let result = if packets {
            let network = &mut PacketNetwork::new(&parameters);
            run(&[job], &mut fabric, network, &parameters, &options)
        } else {
            run(
                &[job],
                &mut fabric,
                &mut FlowNetwork::new(),
                &parameters,
                &options,
            )
        };
        result.unwrap()
    }

    fn predicted(self, topology: &Topology) -> f64 {
        let parameters = Parameters {
            software: Micros::new(0.0),
            step: StepCost::FREE,
            grain: self.grain,
            ..Parameters::of(topology)
        };
        let plan = Plan::new(
            topology,
            self.collective,
            self.algorithm,
            self.ranks,
            &parameters,
        );
        plan.unwrap().time(Bytes::new(self.bytes)).get()
    }
}

/// Of every call that meets nobody on these fabrics, in both fidelities.
#[test]
fn a_run_without_overheads_is_the_closed_form() {
    use Algorithm::{HalvingDoubling, Pairwise, RecursiveDoubling, Ring, TwoShot};
    let slices = |bytes| Grain::Slices { bytes };
    let cases = [
        (Collective::AllReduce, Ring, ring(), Grain::Message),
        (Collective::AllReduce, Ring, ring(), slices(16 << 10)),
        (Collective::AllGather, Ring, ring(), Grain::Message),
        (Collective::ReduceScatter, Ring, ring(), slices(4 << 10)),
        (Collective::AllReduce, Ring, crossbar(), Grain::Message),
        (
            Collective::AllReduce,
            HalvingDoubling,
            crossbar(),
            Grain::Message,
        ),
        (
            Collective::AllReduce,
            RecursiveDoubling,
            crossbar(),
            Grain::Message,
        ),
        (Collective::AllReduce, TwoShot, crossbar(), Grain::Message),
        (Collective::AllToAll, Pairwise, crossbar(), Grain::Message),
    ];
    for (collective, algorithm, fabric, grain) in cases {
        for ranks in [2, 4, 8] {
            for bytes in [0, 1 << 10, 1 << 20, 16 << 20] {
                let call = Call {
                    collective,
                    algorithm,
                    ranks,
                    bytes,
                    grain,
                };
                let topology = system(ranks, fabric.clone(), 0.5);
                let math = call.predicted(&topology);
                for packets in [false, true] {
                    let g5 = call.simulated(&topology, packets).total.to_micros().get();
                    assert!(
                        (g5 - math).abs() <= 1e-3 * math.max(0.01),
                        "{call:?} packets {packets}: {g5} us, closed form {math} us"
                    );
                }
            }
        }
    }
}

proptest! {
    /// What a simulation may not do either: be faster than information travels (FACTS B.0).
    #[test]
    fn no_run_undercuts_the_lower_bound(
        algorithm in proptest::sample::select(Algorithm::ALL.to_vec()),
        collective in proptest::sample::select(Collective::ALL.to_vec()),
        ranks in 2_u32..12,
        bytes in 0_u64..(8 << 20),
        latency in 0.0..2.0_f64,
        on_ring in any::<bool>(),
    ) {
        let is_in_switch = matches!(
            algorithm,
            Algorithm::Nvls | Algorithm::NvlsTree | Algorithm::CollNetDirect | Algorithm::CollNetChain
        );
        prop_assume!(offers(algorithm, collective) && !is_in_switch);
        let call = Call { collective, algorithm, ranks, bytes, grain: Grain::Message };
        let topology = system(ranks, if on_ring { ring() } else { crossbar() }, latency);
        let options = BuildOptions::new(ranks, Bytes::new(bytes));
        prop_assume!(build(collective, algorithm, &options).is_ok());
        let result = call.simulated(&topology, false);
        // A chip of a ring has two links; routes of a crossbar cross two.
        let (ports, hops) = if on_ring { (2, 1.0) } else { (1, 2.0) };
        let rate = GbPerSec::new(RATE * f64::from(ports));
        let wire = law::Wire::new(Micros::new(latency * hops), rate).unwrap();
        let bound = lower_bound(collective, ranks, Bytes::new(bytes), &wire, ranks - 1, Adder::Ranks);
        let bound = bound.unwrap().time().get();
        let time = result.total.to_micros().get();
        prop_assert!(time >= bound * (1.0 - 1e-6) - 1e-3, "{time} us, bound {bound} us");
    }
}
