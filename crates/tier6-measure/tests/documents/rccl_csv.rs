//! rccl-tests' CSV.

use tier6_collective::Collective;
use tier6_measure::{Dataset, Dialect, Parsed, Placement, Ranks, ReadOptions};

const MPI: &str = "\
numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong
0,ReduceScatter,2,4,2,2,8192,float,sum,0,40.0,0.2048,0.1792,0
0,ReduceScatter,2,4,2,2,8192,float,sum,1,41.0,0.1998,0.1748,N/A
1,ReduceScatter,2,4,2,2,8192,float,sum,0,32.0,0.256,0.224,0
";

fn parse(text: &str) -> Parsed<Dataset> {
    let parsed = tier6_measure::read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(parsed.value.dialect, Dialect::RcclCsv);
    parsed
}

#[test]
fn rows_are_placements_and_cycles_are_samples() {
    let parsed = parse(MPI);
    assert_eq!(parsed.warnings, []);
    assert_eq!(parsed.value.dialect, Dialect::RcclCsv);
    let [out_of_place, in_place] = parsed.value.runs[0].series.as_slice() else {
        panic!("two series")
    };
    assert_eq!(out_of_place.collective, Some(Collective::ReduceScatter));
    assert_eq!(
        (out_of_place.ranks, out_of_place.nodes),
        (Ranks::Stated(8), Some(2))
    );
    assert_eq!(out_of_place.points[0].samples.len(), 2);
    assert_eq!(in_place.placement, Placement::InPlace);
    assert_eq!(in_place.points[0].samples[0].line, 3);
}

#[test]
fn a_header_without_nodes_is_repaired() {
    let parsed = parse(&MPI.replace("collective,nodes,ranks", "collective,ranks"));
    assert_eq!(
        parsed.warnings[0].to_string(),
        "line 1: the header lacks `nodes`, which the rows have; put back [repaired]"
    );
    assert_eq!(parsed.value.runs[0].series[0].ranks, Ranks::Stated(8));
    assert_eq!(parsed.value.runs[0].series[0].nodes, Some(2));
}

#[test]
fn a_build_without_mpi_counts_gpus() {
    let text = "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n\
                0,AllReduce,4,8192,float,sum,0,40.0,0.2048,0.3072,0\n";
    let parsed = parse(text);
    assert_eq!(parsed.warnings, []);
    assert_eq!(parsed.value.runs[0].series[0].ranks, Ranks::Stated(4));
}
