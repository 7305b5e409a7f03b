//! The same table in any encoding and packing.

use super::*;
use std::io::Write;
use tier6_measure::Dialect;

fn table() -> String {
    let footer = "# Out of bounds values : 0 OK\n";
    format!(
        "{}{HEADER}{}{}{}{}{footer}",
        parameters(64),
        row(8),
        row(16),
        row(32),
        row(64)
    )
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_encoding_gives_the_same_measurements() {
    let plain = table();
    let expect = parse(&plain).value;
    let crlf = plain.replace('\n', "\r\n");
    let marked = format!("\u{feff}{crlf}");
    let (first, second) = plain.as_bytes().split_at(300);
    for input in [
        crlf.clone().into_bytes(),
        marked.clone().into_bytes(),
        utf16(&marked, u16::to_le_bytes),
        utf16(&marked, u16::to_be_bytes),
        utf16(&plain, u16::to_le_bytes),
        utf16(&crlf, u16::to_be_bytes),
        gzip(plain.as_bytes()),
        [gzip(first), gzip(second)].concat(),
        gzip(&utf16(&marked, u16::to_le_bytes)),
        ruzstd::encoding::compress_to_vec(
            plain.as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        ),
    ] {
        assert_eq!(parse(input).value, expect);
    }
}

#[test]
fn progress_that_rewrites_its_line_is_no_row() {
    let text = table().replace(&row(16), &format!("loading  3%\rloading 99%\r{}", row(16)));
    assert_eq!(run(&parse(text)).rows, 4);
}

#[test]
fn broken_characters_cost_their_line_at_most() {
    let mut bytes = table().into_bytes();
    bytes.splice(0..0, b"caf\xe9 \xff\xff\n".iter().copied());
    assert_eq!(run(&parse(bytes)).rows, 4);
}

#[test]
fn damage_and_emptiness_are_errors() {
    let packed = gzip(&table().into_bytes().repeat(300));
    let error = try_parse(&packed[..packed.len() / 2]).unwrap_err();
    assert!(
        matches!(error, ReadError::Compressed { format: "gzip", .. }),
        "{error}"
    );
    assert!(matches!(try_parse("").unwrap_err(), ReadError::Empty));
    assert!(matches!(
        try_parse(" \n\r\n\t").unwrap_err(),
        ReadError::Empty
    ));
    let error = try_parse("a poem\nabout nothing\n").unwrap_err();
    assert!(
        matches!(error, ReadError::NotRecognised { line: Some(2) }),
        "{error}"
    );
}

#[test]
fn other_compressions_are_named() {
    for (magic, name) in [
        (&b"\xfd7zXZ\0\0"[..], "xz"),
        (b"BZh91AY&SY", "bzip2"),
        (b"PK\x03\x04\x14\0", "zip"),
    ] {
        let error = try_parse(magic).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{name} data is not unpacked here")
        );
        assert!(error.hint().unwrap().contains("unpack others first"));
    }
}

#[test]
fn a_forced_format_that_is_not_there_is_named() {
    for dialect in [
        Dialect::ForeignCsv,
        Dialect::RcclCsv,
        Dialect::NcclTestsJson,
    ] {
        let options = ReadOptions {
            dialect: Some(dialect),
            ..ReadOptions::default()
        };
        let error = read(&b"a poem\nabout nothing\n"[..], &options).unwrap_err();
        assert_eq!(error.to_string(), format!("this is no `{dialect}`"));
        let hint = "without `--as` the content tells the format";
        assert_eq!(error.hint(), Some(hint));
    }
}

#[test]
fn columns_that_are_known_are_not_mapped() {
    let options = ReadOptions {
        columns: vec![("time_us".to_owned(), "Latency".to_owned())],
        ..ReadOptions::default()
    };
    let parsed = read(table().as_bytes(), &options).unwrap();
    assert_eq!(run(&parsed).rows, 4);
    let said = parsed
        .warnings
        .iter()
        .find(|w| w.message.contains("`--map`"));
    assert_eq!(
        said.unwrap().message,
        "`--map` names columns of a CSV or a table; this is nccl-tests, whose columns are known"
    );
}

#[test]
fn a_line_without_end_is_skipped_in_bounded_memory() {
    let long = "x".repeat(3 << 20);
    let text = table().replace(&row(16), &format!("{long}\n{}", row(16)));
    let parsed = parse(text);
    assert_eq!(run(&parsed).rows, 4);
    assert_eq!(lines(&parsed, WarningCode::Unknown), [Some(4)]);
}

#[test]
fn the_last_row_without_its_newline_is_not_used() {
    let text = format!("{HEADER}{}{}", row(8), row(16));
    let parsed = parse(text.trim_end());
    assert_eq!(run(&parsed).rows, 1);
    assert_eq!(lines(&parsed, WarningCode::CutRow), [Some(3)]);
}

#[test]
fn the_published_files_give_identical_measurements() {
    let case = "20-powershell-utf16le-crlf";
    let Some(input) = published(case, "input.txt") else {
        return;
    };
    let (wide, plain) = (
        parse(input),
        parse(published(case, "cut-header.txt").unwrap()),
    );
    assert_eq!(run(&wide).series, run(&plain).series);
    let run = run(&wide);
    assert_eq!((run.rows, measurements(run)), (5, 10));
    assert_eq!(run.series[0].ranks.exact(), Some(8));
    assert_eq!(
        numbers(run, Placement::OutOfPlace, 8 << 30),
        (158_070.0, 54.34, 95.1)
    );
    let footer = run.footer.as_ref().unwrap();
    assert_eq!(
        (footer.out_of_bounds, footer.average_busbw.unwrap().get()),
        (Some(0), 95.3009)
    );
    assert_eq!(messages(&wide, WarningCode::Repaired).len(), 1);
}
