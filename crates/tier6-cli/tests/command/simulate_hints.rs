//! Every error of `tier6 simulate` says what, where, why and the way out.

use crate::harness::{Run, Said};

fn said(line: &str, input: &str) -> Said {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    Run::new(&arguments).stdin(input.as_bytes()).said()
}

fn hint(said: &Said) -> &str {
    let hint = said
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("hint: "));
    hint.unwrap_or_else(|| panic!("no hint: {}", said.stderr))
}

#[test]
fn every_wrong_fault_has_a_hint() {
    let call = "simulate --system h100-x8 --collective all_reduce --sizes 1M --fault";
    for (fault, says) in [
        ("late-rank=99:1us", "ranks are 0 to 7"),
        ("late-rank=3:soon", "a time behind the last colon"),
        ("late-rank=3", "`late-rank=3:100us`"),
        ("late-rank=-1:1us", "`late-rank=3:100us`"),
        (
            "failed-link=chip0-nvswitch3:soon",
            "a time behind the last colon",
        ),
        ("failed-link=", "as `chip0-nvswitch3`"),
        (
            "failed-link=chip0-nvswich3",
            "did you mean `chip0-nvswitch3`?",
        ),
        ("slow-link=elsewhere:50%", "as `chip0-nvswitch3`"),
        ("slow-link=chip0-nvswitch3:0", "`failed-link`"),
        ("slow-link=chip0-nvswitch3:150%", "`50%`"),
        ("loss=elsewhere:1e-3", "as `chip0-nvswitch3`"),
        ("loss=2", "`50%`"),
        ("slwo-link=chip0-nvswitch3:50%", "did you mean `slow-link`?"),
    ] {
        let said = said(&format!("{call} {fault}"), "");
        assert_eq!(said.code, 2, "{fault}: {}", said.stderr);
        assert!(hint(&said).contains(says), "{fault}: {}", said.stderr);
    }
}

/// A system of two chips, to which tables of `[g5]` are added from line 19 on.
const BASE: &str = "name = \"pair\"\ntitle = \"two\"\n\n[chip]\nname = \"any\"\n\n[software]\n\
call = \"10 us\"\n\n[links.wire]\nrate = \"50 GB/s\"\nlatency = \"1 us\"\nefficiency = 1.0\n\n[[tier]]\n\
name = \"node\"\ncount = 2\nfabric = \"ring\"\nlink = \"wire\"\n\n";

#[test]
fn wrong_values_of_layers_have_their_line_and_a_hint() {
    let call = "simulate --system - --collective all_reduce --sizes 1M";
    assert_eq!(BASE.lines().count(), 20);
    let usual = "has the engine's usual value";
    for (table, code, place, says) in [
        (
            "[g5.rc_link.credits]\ncount = 0",
            3,
            "line 22, column 9",
            usual,
        ),
        (
            "[g5.rc_link.credits]\nunit = \"512 B\"\ncount = 1",
            5,
            "line 23, column 1",
            "a `count` of at least 3",
        ),
        ("[g5.cdma]\nunits = \"8\"", 3, "line 22, column 9", usual),
        (
            "[g5.cdma]\nstart = 4",
            3,
            "line 22, column 9",
            "units are part of values",
        ),
        (
            "[g5.cdma]\nstart = \"-1 us\"",
            3,
            "line 22, column 9",
            usual,
        ),
        (
            "[g5.cdma]\ntreads = 4",
            3,
            "line 22, column 1",
            "did you mean `threads`?",
        ),
        (
            "[g5.cmda]\nunits = 4",
            3,
            "line 21, column 5",
            "did you mean `cdma`?",
        ),
        (
            "[g5.rc_link]\nsequence_bits = 40",
            5,
            "line 22, column 1",
            "usual value",
        ),
        (
            "[g5.rc_link]\nwindow = 5000",
            5,
            "line 22, column 1",
            "more `sequence_bits`",
        ),
        (
            "[g5.switch]\nbuffer = \"10 B\"",
            5,
            "line 22, column 1",
            "a larger `buffer`",
        ),
        ("[g5.dcqcn]\ng = 7", 3, "line 22, column 5", usual),
        (
            "[g5.dcqcn]\n[g5.rc_link]\nheaders = \"compressed\"",
            5,
            "line 23, column 1",
            "use full headers",
        ),
        (
            "[g5.paths]\nchoice = \"sub_flows\"",
            3,
            "line 21, column 1",
            usual,
        ),
    ] {
        let said = said(call, &format!("{BASE}{table}\n"));
        assert_eq!(said.code, code, "{table}: {}", said.stderr);
        assert!(said.stderr.contains(place), "{table}: {}", said.stderr);
        assert!(hint(&said).contains(says), "{table}: {}", said.stderr);
    }
    let sound = said(call, BASE);
    assert_eq!(sound.code, 0, "{}", sound.stderr);
}
