//! From the tuner's arguments as typed to arguments as meant.

use crate::args::Reading;
use crate::args::tuner::{Call, Known, MeasuredReading, Source};
use crate::failure::Failure;
use tier6::{
    Bytes, Collective, CommunicatorInput, Cpu, CpuArch, CpuVendor, DataType, Machine,
    NcclCollective, ReadOptions, RedOp, TunerCall, TunerDialect, TunerRequest,
};

/// Reads where the communicator comes from and what is known beside it.
pub fn request(source: &Source, known: &Known) -> Result<TunerRequest, Failure> {
    Ok(TunerRequest {
        input: input(source)?,
        ..self::known(known)?
    })
}

/// Reads what is known beside a communicator that is named elsewhere.
pub fn known(known: &Known) -> Result<TunerRequest, Failure> {
    Ok(TunerRequest {
        input: CommunicatorInput::System(String::new()),
        nccl: known.nccl.as_deref().map(version).transpose()?,
        env: variables(known)?,
        machine: Machine {
            n_ranks: known.ranks.map(|n| count("--ranks", n)).transpose()?,
            n_nodes: known.nodes.map(|n| count("--nodes", n)).transpose()?,
            comp_cap: known.comp_cap.as_deref().map(comp_cap).transpose()?,
            cpu: known.cpu.as_deref().map(cpu).transpose()?,
            ..Machine::default()
        },
        communicator: known.communicator,
    })
}

/// Reads what the measurements do not say; ranks and nodes are those of the communicator.
pub fn reading(reading: &MeasuredReading, known: &Known) -> Result<ReadOptions, Failure> {
    let positive = |n: Option<i32>| n.and_then(|n| u32::try_from(n).ok());
    crate::meaning::reading(&Reading {
        dialect: reading.read_as.clone(),
        collective: reading.collective.clone(),
        ranks: positive(known.ranks),
        nodes: positive(known.nodes),
        columns: reading.columns.clone(),
    })
}

/// Reads the variables of the environment.
pub fn variables(known: &Known) -> Result<Vec<(String, String)>, Failure> {
    let pairs = known.env.iter().map(|text| tier6::parse_variable(text));
    Ok(pairs.collect::<Result<_, _>>()?)
}

/// Reads where the communicator comes from.
pub fn input(source: &Source) -> Result<CommunicatorInput, Failure> {
    let Source {
        graph,
        comm,
        log,
        system,
    } = source;
    match (graph, comm, log, system) {
        (Some(path), None, None, None) => Ok(CommunicatorInput::Graph(path.clone())),
        (None, Some(path), None, None) => Ok(CommunicatorInput::Communicator(path.clone())),
        (None, None, Some(path), None) => Ok(CommunicatorInput::Log(path.clone())),
        (None, None, None, Some(name)) => Ok(CommunicatorInput::System(name.clone())),
        _ => Err(Failure::usage(
            "one of `--graph`, `--comm`, `--log`, `--system` is needed",
        )),
    }
}

/// Reads the call, but for its size.
pub fn call(call: &Call) -> Result<TunerCall, Failure> {
    if call.pipe_ops == 0 {
        return Err(Failure::usage(
            "`--pipe-ops 0`: a call has at least one operation",
        ));
    }
    let (datatype, op) = elements(&call.datatype, &call.op)?;
    Ok(TunerCall {
        collective: collective(&call.collective)?,
        datatype,
        op,
        pipe_ops: call.pipe_ops,
    })
}

/// Reads the type of the elements and the operator.
pub fn elements(datatype: &str, op: &str) -> Result<(DataType, RedOp), Failure> {
    let datatype = datatype.parse().map_err(|()| Failure::Usage {
        message: format!("unknown type `{datatype}` of `--datatype`"),
        hint: Some(format!(
            "one of {}",
            DataType::ALL.map(DataType::name).join(", ")
        )),
    })?;
    let op = op.parse().map_err(|()| Failure::Usage {
        message: format!("unknown operator `{op}` of `--op`"),
        hint: Some("one of sum, prod, max, min, avg, mulsum".to_owned()),
    })?;
    Ok((datatype, op))
}

/// Reads a collective that the tuner decides about.
pub fn collective(name: &str) -> Result<NcclCollective, Failure> {
    let parsed: Result<Collective, ()> = name.parse();
    let hint = NcclCollective::ALL.map(|collective| collective.to_string());
    let wrong = |message: String| Failure::Usage {
        message,
        hint: Some(format!("one of {}", hint.join(", "))),
    };
    let collective = parsed.map_err(|()| wrong(format!("unknown collective `{name}`")))?;
    NcclCollective::try_from(collective).map_err(|error| wrong(error.to_string()))
}

/// Reads one size.
pub fn size(text: &str) -> Result<Bytes, Failure> {
    text.parse().map_err(|error| Failure::Usage {
        message: format!("`--bytes {text}`: {error}"),
        hint: Some("for example `--bytes 4MiB`".to_owned()),
    })
}

/// Reads a dialect of configuration files.
pub fn dialect(name: &str) -> Result<TunerDialect, Failure> {
    name.parse().map_err(|_| Failure::Usage {
        message: format!("unknown dialect `{name}`"),
        hint: Some("one of nvidia-example, rccl, ncclx-csv".to_owned()),
    })
}

/// Reads an NCCL version.
pub fn version(text: &str) -> Result<tier6::LibraryVersion, Failure> {
    tier6::NcclRelease::read_version(text).map_err(|error| Failure::Usage {
        message: format!("`--nccl`: {error}"),
        hint: None,
    })
}

fn count(option: &str, n: i32) -> Result<i32, Failure> {
    if n >= 1 {
        Ok(n)
    } else {
        Err(Failure::usage(format!("`{option} {n}`: at least 1")))
    }
}

/// Reads `9.0` or `90`.
fn comp_cap(text: &str) -> Result<i32, Failure> {
    let wrong = || Failure::Usage {
        message: format!("`--comp-cap` is a compute capability, found `{text}`"),
        hint: Some("7.0 is a V100, 8.0 an A100, 9.0 an H100, 10.0 a B200".to_owned()),
    };
    let number = match text.split_once('.') {
        Some((major, minor)) if minor.len() == 1 => format!("{major}{minor}"),
        Some(_) => return Err(wrong()),
        None => text.to_owned(),
    };
    let number: i32 = number.parse().map_err(|_| wrong())?;
    if (10..1000).contains(&number) {
        Ok(number)
    } else {
        Err(wrong())
    }
}

fn cpu(text: &str) -> Result<Cpu, Failure> {
    let (arch, vendor) = match text.to_ascii_lowercase().as_str() {
        "intel" => (CpuArch::X86, CpuVendor::Intel),
        "amd" => (CpuArch::X86, CpuVendor::Amd),
        "zhaoxin" => (CpuArch::X86, CpuVendor::Zhaoxin),
        "arm" => (CpuArch::Arm, CpuVendor::Unknown),
        "power" => (CpuArch::Power, CpuVendor::Unknown),
        _ => {
            return Err(Failure::Usage {
                message: format!("unknown CPU `{text}`"),
                hint: Some("one of intel, amd, zhaoxin, arm, power".to_owned()),
            });
        }
    };
    Ok(Cpu { arch, vendor })
}
