//! Graph files: the values, the machine that has to be added, and the errors.

use std::fs;
use std::path::Path;
use tier6_collective::{DataType, Protocol, RedOp};
use tier6_nccl::{
    AssembleError, Call, CostTable, LibraryVersion, Machine, NcclAlgorithm, NcclCollective,
    PathType, Pattern, Release, Settings, read_graph_xml,
};

const GRAPHS: &str = include_str!("data/graph/two-switches.xml");

#[test]
fn a_graph_file_and_the_number_of_ranks_are_enough_to_choose() {
    let release = Release::for_version(LibraryVersion::new(2, 22, 3))
        .unwrap()
        .release;
    let file = read_graph_xml(GRAPHS, release).unwrap();
    assert_eq!(file.local_ranks, Some(4));
    assert!(!file.uses_network);
    let ring = file.graphs[NcclAlgorithm::Ring as usize].unwrap();
    assert_eq!((ring.n_channels, ring.intra_path), (6, PathType::Nvl));
    let tree = file.graphs[NcclAlgorithm::Tree as usize].unwrap();
    assert_eq!(tree.pattern, Some(Pattern::BalancedTree));

    let machine = Machine {
        local_ranks: file.local_ranks,
        ..Machine::default()
    };
    let assembled = machine.assemble(file.graphs, release).unwrap();
    let communicator = assembled.communicator;
    assert_eq!((communicator.n_ranks, communicator.n_channels), (4, 12));
    assert_eq!(communicator.comp_cap_min, 70);
    assert_eq!(assembled.assumptions.len(), 2, "compute capability and CPU");

    let call = Call::new(
        &communicator,
        NcclCollective::AllReduce,
        2 << 20,
        DataType::Int8,
        RedOp::Sum,
    );
    let table = CostTable::new(release, communicator, Settings::unset(release));
    let choice = table.choose(&call).unwrap();
    assert_eq!(choice.candidate.protocol, Protocol::Ll128);
    // The prediction of source document 000 for this graph.
    assert_eq!(format!("{:.3}", choice.time_us), "53.894");
}

#[test]
fn what_is_missing_is_asked_for() {
    let release = Release::newest();
    let graphs = read_graph_xml(GRAPHS, release).unwrap().graphs;
    let error = Machine::default().assemble(graphs, release).unwrap_err();
    assert_eq!(error, AssembleError::Ranks);
    let mut without_tree = graphs;
    without_tree[NcclAlgorithm::Tree as usize] = None;
    let machine = Machine {
        n_ranks: Some(4),
        ..Machine::default()
    };
    let error = machine.assemble(without_tree, release).unwrap_err();
    assert_eq!(error.to_string(), "the tree graph is missing");
    let machine = Machine {
        n_ranks: Some(4),
        n_nodes: Some(8),
        ..Machine::default()
    };
    let error = machine.assemble(graphs, release).unwrap_err();
    assert_eq!(error.to_string(), "4 ranks cannot fill 8 nodes");
}

#[test]
fn each_wrong_attribute_is_named_with_its_line() {
    let error = |from: &str, to: &str| {
        read_graph_xml(&GRAPHS.replacen(from, to, 1), Release::newest())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("speedintra=\"20\"", "speedintra=\"NaN\""),
        "line 2: `speedintra` is `NaN`; expected a finite number of 0 or more"
    );
    assert_eq!(
        error("typeinter=\"PIX\"", "typeinter=\"PXX\""),
        "line 2: `typeinter` is `PXX`; expected a path type such as `NVL`"
    );
    assert_eq!(
        error("nchannels=\"6\"", "nchannels=\"-6\""),
        "line 2: `nchannels` is `-6`; expected a number of channels"
    );
    assert_eq!(
        error(" samechannels=\"0\"", ""),
        "line 2: graph without `samechannels`"
    );
    assert_eq!(
        error("pattern=\"1\"", "pattern=\"4\""),
        "line 16: a second graph for ring"
    );
    assert_eq!(
        read_graph_xml("<system version=\"1\"/>", Release::newest())
            .unwrap_err()
            .to_string(),
        "line 1: expected `<graphs>`, found `<system>`; hint: NCCL writes graphs with \
         `NCCL_GRAPH_DUMP_FILE`; a topology file holds none"
    );
    assert!(
        read_graph_xml("Pattern 4", Release::newest())
            .unwrap_err()
            .to_string()
            .starts_with("failed to read the graph file as XML")
    );
}

#[test]
fn published_graph_files_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/nccl/topo/real");
    if !folder.is_dir() {
        eprintln!("no published graph files at hand");
        return;
    }
    for (name, gpus) in [("azure-ncv4-graph.xml", 4), ("azure-nc48v4-graph.xml", 2)] {
        eprintln!("published {name}");
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let file = read_graph_xml(&text, Release::newest()).unwrap();
        assert_eq!(file.local_ranks, Some(gpus), "{name}");
        let ring = file.graphs[NcclAlgorithm::Ring as usize].unwrap();
        assert_eq!((ring.n_channels, ring.intra_path), (2, PathType::Sys));
    }
}
