//! The predictions of source document 000: four V100, two links of NVLink per pair, NCCL 2.22.3,
//! a graph of 6 channels x 20 GB/s, int8 AllReduce.

use tier6_collective::{DataType, Protocol, RedOp};
use tier6_nccl::{
    Call, Candidate, CostTable, LibraryVersion, NcclAlgorithm, NcclCollective, Operation, Release,
    Settings, read_communicator,
};

const COMMUNICATOR: &str = include_str!("data/communicator/v100x4-nv2.json");

fn table() -> CostTable {
    let release = Release::for_version(LibraryVersion::new(2, 22, 3))
        .unwrap()
        .release;
    let source = read_communicator(COMMUNICATOR, release).unwrap();
    CostTable::new(release, source.communicator, Settings::unset(release))
}

fn all_reduce(table: &CostTable, bytes: u64) -> Call {
    let communicator = table.communicator();
    Call::new(
        communicator,
        NcclCollective::AllReduce,
        bytes,
        DataType::Int8,
        RedOp::Sum,
    )
}

#[test]
fn all_eleven_predictions_to_three_decimals() {
    let table = table();
    for (bytes, protocol, predicted) in [
        (1, Protocol::Ll, "10.200"),
        (1 << 10, Protocol::Ll, "10.239"),
        (256 << 10, Protocol::Ll, "20.282"),
        (512 << 10, Protocol::Ll, "30.365"),
        (1 << 20, Protocol::Ll128, "39.647"),
        (2 << 20, Protocol::Ll128, "53.894"),
        (4 << 20, Protocol::Simple, "81.229"),
        (16 << 20, Protocol::Simple, "238.515"),
        (64 << 20, Protocol::Simple, "867.661"),
        (256 << 20, Protocol::Simple, "3384.243"),
        (1 << 30, Protocol::Simple, "13450.572"),
    ] {
        let choice = table.choose(&all_reduce(&table, bytes)).unwrap();
        assert_eq!(format!("{:.3}", choice.time_us), predicted, "{bytes} B");
        assert_eq!(choice.candidate.protocol, protocol, "{bytes} B");
    }
}

#[test]
fn ring_at_every_size_and_two_switch_points() {
    let table = table();
    let protocols: Vec<Protocol> = (0..=30)
        .map(|exponent| {
            let choice = table.choose(&all_reduce(&table, 1 << exponent)).unwrap();
            assert_eq!(choice.candidate.algorithm, NcclAlgorithm::Ring);
            choice.candidate.protocol
        })
        .collect();
    let switches: Vec<usize> = (1..protocols.len())
        .filter(|&index| protocols[index] != protocols[index - 1])
        .collect();
    // LL to 512 KiB, LL128 at 1 and 2 MiB, Simple from 4 MiB.
    assert_eq!(switches, [20, 22]);
    assert_eq!(protocols[19], Protocol::Ll);
    assert_eq!(protocols[20], Protocol::Ll128);
    assert_eq!(protocols[22], Protocol::Simple);
}

#[test]
fn every_prediction_can_be_redone_by_hand() {
    let table = table();
    let ll128 = Candidate {
        algorithm: NcclAlgorithm::Ring,
        protocol: Protocol::Ll128,
    };
    let cell = table
        .explain_cell(NcclCollective::AllReduce, ll128)
        .unwrap();
    let operations: Vec<Operation> = cell.bandwidth_gbs.iter().map(|t| t.operation).collect();
    assert_eq!(
        operations[..4],
        [
            Operation::Start(20.0),
            Operation::Times(6.0),
            Operation::Times(0.92),
            Operation::AtMost(120.0),
        ]
    );
    let bandwidth = cell.bandwidth_gbs.last().unwrap().result;
    assert!((bandwidth - 73.6).abs() < 1e-4);
    // 14 us and six steps of 1.9 us.
    let latency = cell.latency_us.last().unwrap().result;
    assert!((latency - 25.4).abs() < 1e-5);

    let call = all_reduce(&table, 1 << 20);
    let terms = table.explain_call(&call, ll128);
    let time = terms.time_us.last().unwrap().result;
    assert!((time - (25.4 + 1_048_576.0 / 73_600.0)).abs() < 1e-4);
    assert_eq!(
        time.to_bits(),
        table.choose(&call).unwrap().time_us.to_bits()
    );
}

#[test]
fn explanations_end_at_the_table_for_every_candidate() {
    for lines in [
        include_str!("data/oracle/systems/2.22.3.jsonl"),
        include_str!("data/oracle/systems/2.27.7.jsonl"),
        include_str!("data/oracle/systems/2.30.7.jsonl"),
    ] {
        for line in lines.lines() {
            let source = read_communicator(line, Release::newest()).unwrap();
            let release = Release::for_version(source.version.unwrap())
                .unwrap()
                .release;
            let table = CostTable::new(release, source.communicator, Settings::unset(release));
            for collective in NcclCollective::ALL {
                for candidate in Candidate::all() {
                    check_explanation(&table, collective, candidate);
                }
            }
        }
    }
}

fn check_explanation(table: &CostTable, collective: NcclCollective, candidate: Candidate) {
    let why_not = table.why_not(collective, candidate);
    let Some(cell) = table.explain_cell(collective, candidate) else {
        assert!(why_not.is_some());
        return;
    };
    let latency = cell.latency_us.last().unwrap().result;
    assert_eq!(
        latency.to_bits(),
        table.latency_us(collective, candidate).to_bits()
    );
    let bandwidth = cell.bandwidth_gbs.last().unwrap().result;
    if why_not.is_none() {
        assert_eq!(
            bandwidth.to_bits(),
            table.bandwidth_gbs(collective, candidate).to_bits()
        );
    }
}
