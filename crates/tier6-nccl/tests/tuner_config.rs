//! Tuner configuration files: as the plug-ins read them, and what the linter says.

use proptest::prelude::*;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tier6_collective::{DataType, Protocol, RedOp};
use tier6_nccl::{
    Buffers, Call, Candidate, Channels, CostTable, Dialect, Interval, LibraryVersion, LintContext,
    NcclAlgorithm, NcclCollective, PluginQuery, Release, RuleCode, Settings, TunerRule, fix_config,
    lint_config, named_system, read_config, write_config,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PluginCase {
    config: String,
    text: String,
    n_nodes: u64,
    n_ranks: u64,
    rows: Vec<PluginRow>,
}

/// Collective, bytes, operations, registered, entries without a time, result, channels,
/// entries set to zero.
#[derive(Deserialize)]
struct PluginRow(String, u64, u32, u8, Vec<String>, i32, i32, Vec<String>);

fn entry_name(candidate: Candidate) -> String {
    let protocol = match candidate.protocol {
        Protocol::Ll => "LL",
        Protocol::Ll128 => "LL128",
        Protocol::Simple => "Simple",
    };
    format!("{}/{protocol}", candidate.algorithm.plain_name())
}

#[test]
fn the_reader_answers_as_nvidias_example_plugin() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let full = root.join("../../../shared/nccl/plugin/example_plugin_cases.jsonl");
    let (path, which) = if full.is_file() {
        (full, "full")
    } else {
        let thinned = root.join("tests/data/plugin/example_plugin_cases.jsonl");
        (thinned, "thinned")
    };
    let mut queries = 0;
    for line in fs::read_to_string(path).unwrap().lines() {
        let case: PluginCase = serde_json::from_str(line).unwrap();
        let config = read_config(&case.text, Dialect::NvidiaExample);
        for row in &case.rows {
            let query = PluginQuery {
                collective: NcclCollective::from_plain_name(&row.0).unwrap(),
                bytes: row.1,
                pipe_ops: row.2,
                buffers: if row.3 == 1 {
                    Buffers::Registered
                } else {
                    Buffers::Plain
                },
                n_nodes: case.n_nodes,
                n_ranks: case.n_ranks,
            };
            let is_offered = |candidate| !row.4.contains(&entry_name(candidate));
            let answer = config.answer(&query, is_offered);
            let zeroed: Vec<String> = answer
                .rule
                .map(|index| entry_name(config.rules[index].candidate))
                .into_iter()
                .collect();
            let place = format!("{} {query:?}", case.config);
            assert_eq!((0, answer.channels), (row.5, row.6), "{place}");
            assert_eq!(zeroed, row.7, "{place}");
            queries += 1;
        }
    }
    eprintln!("{which}: {queries} queries");
    assert!(queries > 100);
}

fn query(bytes: u64, n_nodes: u64, n_ranks: u64) -> PluginQuery {
    PluginQuery {
        collective: NcclCollective::AllReduce,
        bytes,
        pipe_ops: 1,
        buffers: Buffers::Plain,
        n_nodes,
        n_ranks,
    }
}

#[test]
fn rccl_skips_what_it_does_not_know_and_keeps_its_channels() {
    let text = "  # a comment anywhere\n\
                allreduce,0,1023,tree,ll,-1,1,8,-1,-1\r\n\
                allreduce,0,9999,bogus,ll,4,1,8\n\
                allreduce,0,9999, ,ll,4,1,8,-1\n\
                allreduce,1024,9999,ring,simple,6,-1,-1,-1,-1,spx,2\n\
                allreduce,0,99999,ring,ll,4,-1,-1,-1,-1,half\n";
    let config = read_config(text, Dialect::Rccl);
    let lines: Vec<u64> = config.rules.iter().map(|rule| rule.line).collect();
    assert_eq!(lines, [2, 5]);
    let answer = |bytes| config.answer(&query(bytes, 1, 8), |_| true);
    assert_eq!((answer(8).rule, answer(8).channels), (Some(0), 0));
    assert_eq!((answer(2048).rule, answer(2048).channels), (Some(1), 6));
    assert_eq!((answer(1 << 30).rule, answer(1 << 30).channels), (None, 0));
    let codes: Vec<(u64, &str)> = config
        .findings
        .iter()
        .map(|finding| (finding.line, finding.code.code()))
        .collect();
    assert_eq!(codes, [(3, "T6203"), (4, "T6217"), (6, "T6203")]);
}

#[test]
fn ncclx_counts_bytes_per_rank_and_ranks_per_node() {
    let text = "# per rank\n\
                allgather,[8388608,16777216],ring,ll128,-1,*,*\n\
                allreduce,[0,1024),tree,ll,4,(1,),8,65536\n\
                allreduce,[9,3],tree,ll,4,1,8\n";
    let config = read_config(text, Dialect::NcclxCsv);
    assert_eq!(config.rules.len(), 2);
    assert_eq!(config.rules[1].chunk_bytes, Some(65536));
    let rule = |bytes, nodes, ranks| config.answer(&query(bytes, nodes, ranks), |_| true).rule;
    assert_eq!(rule(16 * 1023, 2, 16), Some(1));
    assert_eq!(rule(16 * 1024, 2, 16), None);
    assert_eq!(rule(16, 1, 8), None, "one node is not above one");
    assert_eq!(rule(16, 2, 8), None, "four ranks per node are not eight");
    assert_eq!(config.findings.len(), 1);
    assert!(
        config.findings[0]
            .message
            .contains("communicators fail to start")
    );
}

fn h100_table(version: LibraryVersion) -> CostTable {
    let release = Release::for_version(version).unwrap().release;
    let source = named_system("h100x8-dgx", release).unwrap();
    CostTable::new(release, source.communicator, Settings::unset(release))
}

fn all_reduce(table: &CostTable, bytes: u64) -> Call {
    let communicator = table.communicator();
    let op = RedOp::Sum;
    Call::new(
        communicator,
        NcclCollective::AllReduce,
        bytes,
        DataType::Float,
        op,
    )
}

#[test]
fn a_rule_changes_the_choice_and_a_call_without_one_gets_one_channel() {
    let table = h100_table(LibraryVersion::new(2, 30, 7));
    let text = "allreduce,0,65536,tree,ll,2,-1,-1\n\
                allreduce,65537,1048576,ring,simple,-1,-1,-1\n\
                allreduce,1048577,4194304,ring,simple,0,-1,-1\n";
    let config = read_config(text, Dialect::NvidiaExample);
    let tuned = |bytes| config.choose(&table, &all_reduce(&table, bytes)).unwrap();
    let own = |bytes| table.choose(&all_reduce(&table, bytes)).unwrap();
    let tree = tuned(65536);
    assert_eq!(tree.rule, Some(0));
    assert_eq!(tree.choice.candidate.algorithm, NcclAlgorithm::Tree);
    assert_eq!(tree.choice.channels_max, 2);
    assert!(tree.choice.time_us > own(65536).time_us);
    assert_eq!(tuned(1 << 20).choice.channels_max, 1, "-1 is one channel");
    assert_eq!(tuned(4 << 20).choice.channels_max, 24, "0 keeps NCCL's");
    let large = tuned(1 << 30);
    assert_eq!(large.rule, None);
    assert_eq!(large.choice.candidate, own(1 << 30).candidate);
    assert_eq!(large.choice.channels_max, 1);
}

/// Returns the codes by line.
fn codes(text: &str, dialect: Dialect, context: &LintContext<'_>) -> Vec<(u64, &'static str)> {
    lint_config(&read_config(text, dialect), context)
        .into_iter()
        .map(|finding| (finding.line, finding.code.code()))
        .collect()
}

const ALL_SIZES: &str = "0,18446744073709551615";

/// A file for NVIDIA's example in which every other collective has its rule.
fn with_catch_alls(rows: &str) -> String {
    let others = ["broadcast", "reduce", "allgather", "reducescatter"]
        .map(|collective| format!("{collective},{ALL_SIZES},ring,simple,0,-1,-1\n"));
    format!("{rows}{}", others.concat())
}

#[test]
fn an_unknown_name_comes_with_the_known_ones() {
    let hint = |algorithm: &str| {
        let text = with_catch_alls(&format!(
            "allreduce,{ALL_SIZES},{algorithm},simple,0,-1,-1\n"
        ));
        let config = read_config(&text, Dialect::NvidiaExample);
        let message = config.findings[0].message.clone();
        message.split_once("; hint: ").unwrap().1.to_owned()
    };
    assert_eq!(hint("Ring"), "write `ring`");
    assert_eq!(hint("nvlstree"), "write `nvls_tree`");
    assert_eq!(hint("COLLNET-DIRECT"), "write `collnet_direct`");
    assert_eq!(
        hint("rnig"),
        "one of tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat"
    );
}

#[test]
fn every_trap_of_nvidias_example_has_its_code() {
    let check = |rows: &str, expect: &[(u64, &str)]| {
        let text = with_catch_alls(rows);
        let found = codes(&text, Dialect::NvidiaExample, &LintContext::default());
        assert_eq!(found, expect, "{rows}");
    };
    let clean = format!("allreduce,{ALL_SIZES},ring,simple,0,-1,-1\n");
    check(&clean, &[]);
    check(&clean.replace("simple,0", "simple,-1"), &[(1, "T6201")]);
    check(&clean.replace("ring", "rnig"), &[(1, "T6203")]);
    check(&clean.replace("ring", "Ring"), &[(1, "T6204")]);
    check(&format!("{clean}{clean}"), &[(2, "T6205")]);
    let two = |first: &str, second: &str| {
        format!(
            "allreduce,{first},ring,ll,0,-1,-1\nallreduce,{second},18446744073709551615,ring,simple,0,-1,-1\n"
        )
    };
    check(&two("0,100", "101"), &[]);
    check(&two("0,100", "200"), &[(0, "T6202"), (2, "T6206")]);
    check(&two("0,300", "200"), &[(2, "T6207")]);
    check(&two("300,400", "0"), &[(2, "T6208")]);
    check(
        "allreduce,0,4294967295,ring,simple,0,-1,-1\n",
        &[(0, "T6202"), (1, "T6209")],
    );
    check(&clean.replace("ring,simple", "pat,simple"), &[(1, "T6210")]);
    check(&clean.replace("ring,simple", "nvls,ll"), &[(1, "T6210")]);
    check(
        &format!("allreduce,0,9,ring,ll,0,-1,-1,0\n{clean}"),
        &[(1, "T6209"), (1, "T6213")],
    );
    check(
        &format!(
            "allreduce,0,9,ring,ll,0,-1,-1,{}-1\n{clean}",
            " ".repeat(260)
        ),
        &[
            (1, "T6209"),
            (1, "T6213"),
            (1, "T6214"),
            (1, "T6217"),
            (1, "T6218"),
        ],
    );
    check(&clean.replace('\n', "\r\n"), &[(1, "T6215")]);
    check(&format!(" # note\n{clean}"), &[(1, "T6215"), (1, "T6217")]);
    check(&format!("allreduce,0,9\n{clean}"), &[(1, "T6217")]);
    check(&clean.replace("simple,0", "simple,many"), &[(1, "T6218")]);
}

#[test]
fn candidates_that_take_turns_are_noise() {
    let mut rows = String::new();
    for (index, start) in (0..11_u64).map(|index| (index, index * 1000)) {
        let algorithm = ["ring", "tree"][(index % 2) as usize];
        let end = if index == 10 { u64::MAX } else { start + 999 };
        writeln!(rows, "allreduce,{start},{end},{algorithm},ll,0,-1,-1").unwrap();
    }
    let text = with_catch_alls(&rows);
    let config = read_config(&text, Dialect::NvidiaExample);
    let findings = lint_config(&config, &LintContext::default());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, RuleCode::Alternating);
    assert!(findings[0].message.contains("9 times"));
}

#[test]
fn a_communicator_and_an_environment_tell_more() {
    let table = h100_table(LibraryVersion::new(2, 30, 7));
    let release = Release::for_version(LibraryVersion::new(2, 24, 3))
        .unwrap()
        .release;
    let source = named_system("b200x8-dgx", release).unwrap();
    let b200 = CostTable::new(release, source.communicator, Settings::unset(release));
    let rows = format!("allreduce,{ALL_SIZES},ring,ll128,-1,-1,-1\n");
    let lint = |table, variables| {
        let context = LintContext {
            table: Some(table),
            release: None,
            variables,
        };
        codes(&rows, Dialect::Rccl, &context)
    };
    assert_eq!(lint(&table, vec![]), []);
    // 2.24 does not know that LL128 is safe on Blackwell.
    assert_eq!(lint(&b200, vec![]), [(1, "T6211")]);
    assert_eq!(lint(&table, vec!["NCCL_ALGO", "HOME"]), [(0, "T6216")]);
}

#[test]
fn the_release_and_the_rules_own_nodes_exclude_paths() {
    let lint = |row: &str, version: &str, dialect| {
        let version = Release::read_version(version).unwrap();
        let context = LintContext {
            release: Some(Release::for_version(version).unwrap().release),
            ..LintContext::default()
        };
        codes(row, dialect, &context)
    };
    let pat = format!("allgather,{ALL_SIZES},pat,simple,-1,-1,-1\n");
    assert_eq!(lint(&pat, "2.22", Dialect::Rccl), [(1, "T6210")]);
    assert_eq!(lint(&pat, "2.23", Dialect::Rccl), []);
    let nvls = |algorithm: &str, nodes: u32, ranks: u32| {
        let row = format!("allreduce,{ALL_SIZES},{algorithm},simple,-1,{nodes},{ranks}\n");
        lint(&row, "2.30", Dialect::Rccl).len()
    };
    assert_eq!(nvls("nvls", 16, 16), 1);
    assert_eq!(nvls("nvls_tree", 16, 16), 1);
    assert_eq!(nvls("nvls_tree", 1, 8), 1);
    assert_eq!(nvls("nvls", 1, 8), 0);
    assert_eq!(nvls("nvls_tree", 2, 16), 0);
    let ncclx = |ranks: u32| {
        let row = format!("allreduce,[0,),nvls,simple,-1,4,{ranks},0\n");
        lint(&row, "2.30", Dialect::NcclxCsv)
    };
    assert_eq!(ncclx(1), [(1, "T6210")]);
    assert_eq!(ncclx(4), []);
}

#[test]
fn repairs_are_safe_and_leave_the_rest() {
    let text = "# mine\r\nAllReduce, 0, 4294967295, Ring, LL128, -1, -1, -1\r\nallreduce,1,2\n";
    let fixed = fix_config(text, Dialect::NvidiaExample);
    assert_eq!(
        fixed.text,
        "# mine\nallreduce,0,18446744073709551615,ring,ll128,0,-1,-1\nallreduce,1,2\n"
    );
    assert_eq!(fixed.lines, [1, 2]);
    let again = fix_config(&fixed.text, Dialect::NvidiaExample);
    assert_eq!((again.text, again.lines), (fixed.text, vec![]));
}

#[test]
fn ranges_of_small_or_guessed_paths_are_not_extended() {
    for path in ["ring,ll", "rings,simple"] {
        let text = format!("allreduce,0,65536,{path},0,-1,-1\n");
        let fixed = fix_config(&text, Dialect::NvidiaExample);
        assert_eq!((fixed.text, fixed.lines), (text, vec![]));
    }
}

#[test]
fn nccls_own_choices_as_rules_are_clean_and_change_nothing() {
    let table = h100_table(LibraryVersion::new(2, 30, 7));
    let mut rules = Vec::new();
    for collective in NcclCollective::ALL {
        rules.extend(table.own_rules(collective).unwrap());
    }
    let text = write_config(&rules, Dialect::NvidiaExample).unwrap();
    let config = read_config(&text, Dialect::NvidiaExample);
    let context = LintContext {
        table: Some(&table),
        release: None,
        variables: vec![],
    };
    assert_eq!(lint_config(&config, &context), []);
    // For other communicators the file says nothing.
    let elsewhere = lint_config(&config, &LintContext::default());
    assert_eq!(elsewhere.len(), 1);
    assert_eq!(elsewhere[0].code, RuleCode::NoCatchAll);
    for bytes in (0..36).flat_map(|exponent| [1 << exponent, 3 << exponent >> 1]) {
        let call = all_reduce(&table, bytes);
        let tuned = config.choose(&table, &call).unwrap().choice;
        let own = table.choose(&call).unwrap();
        assert_eq!(tuned.candidate, own.candidate, "{bytes}");
        assert_eq!(tuned.channels_max, own.channels_max, "{bytes}");
    }
}

#[test]
fn what_a_dialect_cannot_say_is_refused() {
    let rule = read_config("allreduce,[0,9],ring,ll,-1,[2,8],*", Dialect::NcclxCsv).rules[0];
    let error = write_config(&[rule], Dialect::Rccl).unwrap_err();
    assert_eq!(error.to_string(), "rule 1: rccl cannot say `nNodes` 2 to 8");
}

fn any_or_exactly() -> impl Strategy<Value = Interval> {
    prop_oneof![
        Just(Interval::ANY),
        (1_u64..2_000_000_000).prop_map(Interval::exactly)
    ]
}

fn any_rule(dialect: Dialect) -> impl Strategy<Value = TunerRule> {
    let candidates: Vec<Candidate> = Candidate::all().collect();
    let has_conditions = dialect != Dialect::NcclxCsv;
    (
        prop::sample::select(NcclCollective::ALL.to_vec()),
        (any::<u64>(), any::<u64>()),
        prop::sample::select(candidates),
        prop_oneof![
            Just(Channels::Own),
            (1_i32..128).prop_map(Channels::Exactly)
        ],
        (any_or_exactly(), any_or_exactly()),
        (any_or_exactly(), any_or_exactly()),
        prop::option::of(1_u64..1 << 30),
    )
        .prop_map(
            move |(collective, bytes, candidate, channels, scale, more, chunk)| TunerRule {
                line: 0,
                collective,
                bytes: Interval::new(bytes.0.min(bytes.1), bytes.0.max(bytes.1)),
                candidate,
                channels,
                nodes: scale.0,
                ranks: scale.1,
                pipe_ops: if has_conditions {
                    more.0
                } else {
                    Interval::ANY
                },
                registered: if has_conditions {
                    more.1
                } else {
                    Interval::ANY
                },
                chunk_bytes: if has_conditions { None } else { chunk },
            },
        )
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        nvidia in prop::collection::vec(any_rule(Dialect::NvidiaExample), 0..8),
        rccl in prop::collection::vec(any_rule(Dialect::Rccl), 0..8),
        ncclx in prop::collection::vec(any_rule(Dialect::NcclxCsv), 0..8),
    ) {
        for (rules, dialect) in [
            (nvidia, Dialect::NvidiaExample),
            (rccl, Dialect::Rccl),
            (ncclx, Dialect::NcclxCsv),
        ] {
            let text = write_config(&rules, dialect).unwrap();
            let read = read_config(&text, dialect);
            prop_assert_eq!(&read.findings, &vec![]);
            let read: Vec<TunerRule> = read
                .rules
                .into_iter()
                .map(|rule| TunerRule { line: 0, ..rule })
                .collect();
            prop_assert_eq!(read, rules);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,400}|([a-z0-9,*()\\[\\]#\\-\\r\\n]{0,40}){0,8}") {
        for dialect in Dialect::ALL {
            let config = read_config(&text, dialect);
            lint_config(&config, &LintContext::default());
            fix_config(&text, dialect);
        }
        tier6_nccl::read_log(&text);
    }
}
