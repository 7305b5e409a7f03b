//! `tier6 tuner`: from arguments to requests, from answers to text.

mod meaning;

use crate::args::tuner::{
    Audit, Choose, Communicator, Config, Diff, Explain, Known, Lint, Source, Table, Tuner,
    TunerCommand, Verify,
};
use crate::args::{Output, TextFormat};
use crate::failure::Failure;
use crate::meaning::format;
use crate::terminal::{Terminal, print};
use std::time::Instant;
use tier6::{
    AuditRequest, ConfigRequest, Detail, DiffRequest, Exit, LintRequest, Ll128, NcclCollective,
    Repair, TunerView,
};

pub fn run(options: &Tuner, terminal: &Terminal) -> Result<Exit, Failure> {
    match &options.command {
        TunerCommand::Choose(options) => choose(options, terminal),
        TunerCommand::Table(options) => table(options, terminal),
        TunerCommand::Explain(options) => explain(options, terminal),
        TunerCommand::Audit(options) => audit(options, terminal),
        TunerCommand::Config(options) => config(options, terminal),
        TunerCommand::Lint(options) => lint(options, terminal),
        TunerCommand::Diff(options) => diff(options, terminal),
        TunerCommand::Verify(options) => verify(options, terminal),
        TunerCommand::Systems(_) => systems(),
    }
}

fn choose(options: &Choose, terminal: &Terminal) -> Result<Exit, Failure> {
    let view = if options.candidates {
        TunerView::Candidates
    } else {
        TunerView::Choices
    };
    let asked = Asked {
        communicator: &options.communicator,
        call: &options.call,
        sizes: &options.sizes,
        output: &options.output,
    };
    show_choices(&asked, view, terminal)
}

fn table(options: &Table, terminal: &Terminal) -> Result<Exit, Failure> {
    let asked = Asked {
        communicator: &options.communicator,
        call: &options.call,
        sizes: &options.sizes,
        output: &options.output,
    };
    show_choices(&asked, TunerView::Table, terminal)
}

/// What `choose` and `table` have in common.
struct Asked<'a> {
    communicator: &'a Communicator,
    call: &'a crate::args::tuner::Call,
    sizes: &'a str,
    output: &'a Output<TextFormat>,
}

fn show_choices(asked: &Asked<'_>, view: TunerView, terminal: &Terminal) -> Result<Exit, Failure> {
    let output = asked.output;
    let form = form(output, terminal, Detail::Short)?;
    let call = meaning::call(asked.call)?;
    let sizes = crate::meaning::sizes(asked.sizes)?;
    let tuner = load(
        &asked.communicator.source,
        &asked.communicator.known,
        terminal,
    )?;
    let report = tier6::weigh(&tuner, &call, &sizes);
    let text = tier6::render_choices(&report, view, form)?;
    terminal.deliver(&text, output.output.as_deref())?;
    Ok(tier6::choices_exit(&report))
}

fn explain(options: &Explain, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = form(&options.output, terminal, Detail::Short)?;
    let call = meaning::call(&options.call)?;
    let bytes = meaning::size(&options.bytes)?;
    let tuner = load(
        &options.communicator.source,
        &options.communicator.known,
        terminal,
    )?;
    let report = tier6::explain_choice(&tuner, &call, bytes);
    let text = tier6::render_explanation(&report, form)?;
    terminal.deliver(&text, options.output.output.as_deref())?;
    Ok(match report.choice {
        Ok(_) => Exit::Done,
        Err(_) => Exit::No,
    })
}

fn audit(options: &Audit, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = form(&options.output, terminal, detail(options.wide))?;
    let reading = meaning::reading(&options.reading, &options.known)?;
    let request = AuditRequest {
        reference: &options.reference,
        files: &options.files,
        tuner: meaning::known(&options.known)?,
        reading: &reading,
    };
    let (report, failures) = tier6::audit(&request, &mut *terminal.progress())?;
    for failure in &failures {
        terminal.failure(failure);
    }
    if let Some(subject) = &report.subject {
        tell_notes(&subject.notes, terminal);
    }
    let text = tier6::render_audit(&report, form)?;
    terminal.deliver(&text, options.output.output.as_deref())?;
    Ok(tier6::Error::exit_of(&failures, tier6::audit_exit(&report)))
}

fn config(options: &Config, terminal: &Terminal) -> Result<Exit, Failure> {
    let wanted = Output {
        format: options.format,
        output: None,
    };
    let is_written = options.output.is_some() && !options.dry_run;
    let form = form(&wanted, terminal, detail(options.dry_run))?;
    let dialect = meaning::dialect(&options.dialect)?;
    let known = &options.communicator.known;
    let reading = meaning::reading(&options.reading, known)?;
    let tuner = match &options.communicator.source {
        Some(source) => Some(load(source, known, terminal)?),
        None => None,
    };
    let request = ConfigRequest {
        files: &options.files,
        dialect,
        tuner: tuner.as_ref(),
        margin_pct: crate::meaning::percent("--margin", &options.margin, "1%")?,
        ll128: if options.trust_ll128 {
            Ll128::Trusted
        } else {
            Ll128::WhereNcclUsesIt
        },
        reading: &reading,
    };
    let (report, failures) = tier6::make_config(&request, &mut *terminal.progress())?;
    for failure in &failures {
        terminal.failure(failure);
    }
    tell_notes(&report.notes, terminal);
    if options.dry_run || is_written || options.format.is_some() {
        print(&tier6::render_config(&report, form)?)?;
    } else {
        // Alone it prints the file itself.
        print(&report.text)?;
    }
    if let Some(path) = options.output.as_deref().filter(|_| is_written) {
        tier6::keep_inputs(path, &options.files)?;
        tier6::write_file(path, &report.text)?;
        terminal.note(&format!("wrote {}", path.display()));
    }
    Ok(tier6::Error::exit_of(&failures, Exit::Done))
}

fn diff(options: &Diff, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = form(&options.output, terminal, detail(options.wide))?;
    let known = &options.communicator.known;
    let base = options.communicator.source.as_ref();
    let collectives = match &options.collective {
        Some(name) => vec![meaning::collective(name)?],
        None => NcclCollective::ALL.to_vec(),
    };
    let (datatype, op) = meaning::elements(&options.datatype, &options.op)?;
    let request = DiffRequest {
        a: &options.a,
        b: &options.b,
        base: base.map(meaning::input).transpose()?,
        tuner: meaning::known(known)?,
        collectives,
        datatype,
        op,
        sizes: &crate::meaning::sizes(&options.sizes)?,
        dialect: options
            .dialect
            .as_deref()
            .map(meaning::dialect)
            .transpose()?,
    };
    let report = tier6::diff_tuners(&request)?;
    // What holds for both sides is told once.
    let mut notes = report.a.subject.notes.clone();
    notes.extend(report.b.subject.notes.iter().cloned());
    let mut told = std::collections::BTreeSet::new();
    notes.retain(|note| told.insert(note.clone()));
    tell_notes(&notes, terminal);
    let text = tier6::render_diff(&report, form)?;
    terminal.deliver(&text, options.output.output.as_deref())?;
    Ok(Exit::Done)
}

fn lint(options: &Lint, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = form(&options.output, terminal, Detail::Short)?;
    let dialect = options.dialect.as_deref().map(meaning::dialect);
    let known = &options.communicator.known;
    let variables = meaning::variables(known)?;
    let tuner = match &options.communicator.source {
        Some(source) => {
            let mut request = meaning::request(source, known)?;
            // What is set changes what the file does, which the linter says itself.
            request.env.clear();
            Some(tier6::load_tuner(&request)?)
        }
        None => None,
    };
    let request = LintRequest {
        files: &options.files,
        dialect: dialect.transpose()?,
        tuner: tuner.as_ref(),
        nccl: known.nccl.as_deref().map(meaning::version).transpose()?,
        variables: variables.iter().map(|(name, _)| name.as_str()).collect(),
        repair: if options.fix {
            Repair::Write
        } else {
            Repair::No
        },
    };
    let report = tier6::lint_files(&request)?;
    let text = tier6::render_lint(&report, form)?;
    terminal.deliver(&text, options.output.output.as_deref())?;
    Ok(tier6::lint_exit(&report))
}

fn verify(options: &Verify, terminal: &Terminal) -> Result<Exit, Failure> {
    let form = form(&options.output, terminal, detail(options.wide))?;
    let start = Instant::now();
    let report = tier6::verify_folder(&options.folder)?;
    let seconds = start.elapsed().as_secs_f64();
    let text = tier6::render_verification(&report, form)?;
    tell_notes(&report.notes, terminal);
    terminal.deliver(&text, options.output.output.as_deref())?;
    terminal.note(&format!("compared in {seconds:.1} s"));
    Ok(tier6::verification_exit(&report))
}

fn systems() -> Result<Exit, Failure> {
    print(&(tier6::system_names().join("\n") + "\n"))?;
    Ok(Exit::Done)
}

/// Loads the communicator and says what had to be assumed.
fn load(source: &Source, known: &Known, terminal: &Terminal) -> Result<tier6::Tuner, Failure> {
    let tuner = tier6::load_tuner(&meaning::request(source, known)?)?;
    tell_notes(&tuner.subject.notes, terminal);
    Ok(tuner)
}

fn tell_notes(notes: &[String], terminal: &Terminal) {
    for note in notes {
        terminal.note(note);
    }
}

const fn detail(is_wide: bool) -> Detail {
    if is_wide { Detail::Wide } else { Detail::Short }
}

fn form(
    output: &Output<TextFormat>,
    terminal: &Terminal,
    detail: Detail,
) -> Result<tier6::Form, Failure> {
    let format = format(output)?;
    Ok(terminal.form(format, detail, output.output.as_deref()))
}
