//! From arguments as typed to arguments as meant.

use crate::args::{Format, Model, Output, Placement, Reading};
use crate::failure::Failure;
use clap::ValueEnum;
use std::path::Path;
use std::str::FromStr;
use tier6::{Bytes, Dialect, Grain, ReadOptions};

/// Reads `5%` or `5`; a hint shows `example`, a share that is usual for the option.
pub fn percent(option: &str, text: &str, example: &str) -> Result<f64, Failure> {
    let text = text.trim();
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(Failure::Usage {
            message: format!("`{option}` is a percentage from 0 to 100, found `{text}`"),
            hint: Some(format!("for example `{option} {example}`")),
        }),
    }
}

/// Reads `16M..1G`.
pub fn size_interval(text: &str) -> Result<(Bytes, Bytes), Failure> {
    let wrong = |why: String| Failure::Usage {
        message: format!("`--range` is a range of sizes, found `{text}`{why}"),
        hint: Some("for example `--range 16M..1G`".to_owned()),
    };
    let (first, last) = text.split_once("..").ok_or_else(|| wrong(String::new()))?;
    let parse = |part: &str| {
        part.parse::<Bytes>()
            .map_err(|error| wrong(format!(": {error}")))
    };
    let (first, last) = (parse(first)?, parse(last)?);
    if first > last {
        return Err(wrong(": it ends below its start".to_owned()));
    }
    Ok((first, last))
}

/// Reads `3M,96M` or `1M..1G:x2`.
pub fn sizes(text: &str) -> Result<tier6::SizeRange, Failure> {
    text.parse().map_err(|error| Failure::Usage {
        message: format!("`{text}` is no list of sizes: {error}"),
        hint: Some("for example `3M,96M` or `1M..1G:x2`".to_owned()),
    })
}

/// Reads `message` or the size of a slice.
pub fn grain(text: &str) -> Result<Grain, Failure> {
    if text == "message" {
        return Ok(Grain::Message);
    }
    let wrong = |why: String| Failure::Usage {
        message: format!("`--grain` is a size or `message`, found `{text}`{why}"),
        hint: Some("for example `--grain 64K`".to_owned()),
    };
    match text.parse::<Bytes>() {
        Ok(size) if size.get() > 0 => Ok(Grain::Slices { bytes: size.get() }),
        Ok(_) => Err(wrong(": a slice of nothing".to_owned())),
        Err(error) => Err(wrong(format!(": {error}"))),
    }
}

/// Returns the placement as meant.
pub fn placement(placement: Placement) -> tier6::Placement {
    match placement {
        Placement::OutOfPlace => tier6::Placement::OutOfPlace,
        Placement::InPlace => tier6::Placement::InPlace,
    }
}

/// Reads the options on what the input does not say itself.
pub fn reading(reading: &Reading) -> Result<ReadOptions, Failure> {
    let dialect = reading.dialect.as_deref().map(dialect).transpose()?;
    let collective = reading
        .collective
        .as_deref()
        .map(|name| {
            name.parse().map_err(|()| Failure::Usage {
                message: format!("unknown collective `{name}`"),
                hint: Some(format!(
                    "one of {}",
                    names(&tier6::Collective::ALL.map(tier6::Collective::name))
                )),
            })
        })
        .transpose()?;
    let columns = reading
        .columns
        .iter()
        .map(|text| column(text))
        .collect::<Result<_, _>>()?;
    Ok(ReadOptions {
        dialect,
        collective,
        ranks: reading.ranks,
        nodes: reading.nodes,
        columns,
    })
}

fn column(text: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((ours, theirs)) if !ours.is_empty() && !theirs.is_empty() => {
            Ok((ours.trim().to_owned(), theirs.trim().to_owned()))
        }
        _ => Err(Failure::Usage {
            message: format!("`--map` is OURS=THEIRS, found `{text}`"),
            hint: Some("for example `--map time_us=Latency --map size_bytes=Bytes`".to_owned()),
        }),
    }
}

fn dialect(name: &str) -> Result<Dialect, Failure> {
    Dialect::ALL
        .into_iter()
        .find(|dialect| dialect.name() == name)
        .ok_or_else(|| Failure::Usage {
            message: format!("unknown dialect `{name}`"),
            hint: Some(format!(
                "one of {}",
                names(&Dialect::ALL.map(Dialect::name))
            )),
        })
}

fn names(all: &[&str]) -> String {
    all.join(", ")
}

/// Reads the limits of the model.
pub fn analysis_options(model: &Model) -> Result<tier6::AnalysisOptions, Failure> {
    Ok(tier6::AnalysisOptions {
        cv_limit_pct: percent("--cv", &model.cv, "5%")?,
        saturation_pct: percent("--saturation", &model.saturation, "80%")?,
        line_rate: model.line_rate.as_deref().map(line_rate).transpose()?,
    })
}

/// Reads `450`, `450GB/s` or `400Gb/s`.
fn line_rate<Rate: FromStr>(text: &str) -> Result<Rate, Failure> {
    let is_bare = text.trim().ends_with(|c: char| c.is_ascii_digit());
    let unit = if is_bare { "GB/s" } else { "" };
    format!("{}{unit}", text.trim())
        .parse()
        .map_err(|_| Failure::Usage {
            message: format!("`--line-rate` is a rate, found `{text}`"),
            hint: Some("for example `--line-rate 450` (GB/s) or `--line-rate 400Gb/s`".to_owned()),
        })
}

/// Checks what can be seen of the inputs before they are read: standard input can be read once,
/// and the result must not take the place of a measurement, nor fail to find one.
pub fn inputs<'a>(
    files: impl IntoIterator<Item = &'a String, IntoIter: Clone>,
    output: Option<&Path>,
) -> Result<(), Failure> {
    let files = files.into_iter();
    if files.clone().filter(|file| *file == "-").count() > 1 {
        return Err(Failure::usage(
            "`-` is named twice, and standard input can be read once",
        ));
    }
    if let Some(output) = output {
        writable(output)?;
        tier6::keep_inputs(output, files)?;
    }
    Ok(())
}

/// Checks that a result can be written: its folder exists, and it is no folder.
fn writable(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    let name = path.display();
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let (message, hint) = match folder {
        _ if path.is_dir() => (
            format!("`{name}` is a folder"),
            "name a file in it".to_owned(),
        ),
        Some(folder) if !folder.is_dir() => {
            let folder = folder.display();
            let message = format!("cannot write `{name}`: there is no folder `{folder}`");
            (message, format!("make it first: `mkdir -p {folder}`"))
        }
        Some(_) | None => return Ok(()),
    };
    Err(Failure::Usage {
        message,
        hint: Some(hint),
    })
}

/// Picks the form of the result: `--format`, else the suffix of `-o`, else a table.
pub fn format<F>(output: &Output<F>) -> Result<Format, Failure>
where
    F: ValueEnum + Into<Format> + Copy + Send + Sync + 'static,
{
    match (output.format, output.output.as_deref()) {
        (Some(format), _) => Ok(format.into()),
        (None, None) => Ok(Format::Table),
        (None, Some(path)) if path.as_os_str() == "-" => Ok(Format::Table),
        (None, Some(path)) if path.is_dir() => Err(Failure::Usage {
            message: format!("`{}` is a folder", path.display()),
            hint: Some("name a file in it: the suffix picks the form".to_owned()),
        }),
        (None, Some(path)) => {
            let format = suffix_format(path)?;
            let forms = F::value_variants();
            if forms.iter().any(|form| (*form).into() == format) {
                return Ok(format);
            }
            let names = forms.iter().filter_map(F::to_possible_value);
            let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
            Err(Failure::Usage {
                message: format!("`{}`: this command writes no such form", path.display()),
                hint: Some(format!("one of {}", names.join(", "))),
            })
        }
    }
}

fn suffix_format(path: &Path) -> Result<Format, Failure> {
    let suffix = path
        .extension()
        .and_then(|suffix| suffix.to_str())
        .unwrap_or("");
    match suffix.to_ascii_lowercase().as_str() {
        "json" => Ok(Format::Json),
        "csv" => Ok(Format::Csv),
        "md" => Ok(Format::Md),
        "svg" => Ok(Format::Svg),
        "html" | "htm" => Ok(Format::Html),
        "txt" => Ok(Format::Table),
        _ => Err(Failure::Usage {
            message: format!("the suffix of `{}` does not name a form", path.display()),
            hint: Some("use .html, .svg, .json, .csv, .md or .txt, or add `--format`".to_owned()),
        }),
    }
}
