//! The program as it is written.

use std::str::FromStr;

use roxmltree::{Document, Node};

use crate::Collective;
use crate::schedule::RANKS_MAX;

use super::ReadMscclError;

/// The most chunks of a buffer or a message.
const CHUNKS_MAX: u32 = 1 << 20;

pub(super) struct Program {
    pub(super) collective: Collective,
    pub(super) ranks: u32,
    pub(super) chunks: u32,
    pub(super) in_place: Option<bool>,
    pub(super) gpus: Vec<Gpu>,
    pub(super) place: TextPlace,
}

pub(super) struct Gpu {
    pub(super) scratch: u32,
    pub(super) blocks: Vec<ThreadBlock>,
}

pub(super) struct ThreadBlock {
    pub(super) id: u32,
    pub(super) send: Option<u32>,
    pub(super) recv: Option<u32>,
    pub(super) channel: u32,
    pub(super) steps: Vec<Step>,
    pub(super) place: TextPlace,
}

pub(super) struct Step {
    pub(super) kind: StepKind,
    pub(super) src: BufferRun,
    pub(super) dst: BufferRun,
    pub(super) count: u32,
    /// Thread block and step that come first.
    pub(super) waits_for: Option<(u32, u32)>,
    pub(super) place: TextPlace,
}

#[derive(Clone, Copy)]
pub(super) struct BufferRun {
    pub(super) buffer: StepBuffer,
    pub(super) offset: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepBuffer {
    Input,
    Output,
    Scratch,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    Send,
    Recv,
    RecvCopySend,
    RecvReduceCopy,
    RecvReduceSend,
    RecvReduceCopySend,
    Copy,
    Reduce,
    Nop,
}

/// Where something stands in the text, from 1.
#[derive(Clone, Copy)]
pub(super) struct TextPlace {
    line: u32,
    column: u32,
}

impl TextPlace {
    pub(super) const fn error(self, message: String) -> ReadMscclError {
        ReadMscclError {
            line: self.line,
            column: self.column,
            message,
        }
    }
}

impl StepKind {
    pub(super) const fn receives(self) -> bool {
        match self {
            Self::Recv
            | Self::RecvCopySend
            | Self::RecvReduceCopy
            | Self::RecvReduceSend
            | Self::RecvReduceCopySend => true,
            Self::Send | Self::Copy | Self::Reduce | Self::Nop => false,
        }
    }

    pub(super) const fn sends(self) -> bool {
        match self {
            Self::Send | Self::RecvCopySend | Self::RecvReduceSend | Self::RecvReduceCopySend => {
                true
            }
            Self::Recv | Self::RecvReduceCopy | Self::Copy | Self::Reduce | Self::Nop => false,
        }
    }
}

pub(super) fn read(text: &str) -> Result<Program, ReadMscclError> {
    let document = Document::parse(text).map_err(|error| {
        let place = error.pos();
        ReadMscclError {
            line: place.row,
            column: place.col,
            message: without_position(&error.to_string()),
        }
    })?;
    let algo = Element(document.root_element());
    if algo.0.tag_name().name() != "algo" {
        let found = algo.0.tag_name().name();
        return Err(algo.error(format!("expected `algo`, found `{found}`")));
    }
    let gpus = algo.children("gpu");
    let ranks = match algo.0.attribute("ngpus") {
        Some(_) => algo.number("ngpus")?,
        None => u32::try_from(gpus.len()).unwrap_or(u32::MAX),
    };
    if ranks == 0 || ranks > RANKS_MAX || gpus.len() != ranks as usize {
        let found = gpus.len();
        return Err(algo.error(format!("{ranks} GPUs, of which {found} are there")));
    }
    let chunks: u32 = algo.number("nchunksperloop")?;
    if chunks == 0 || chunks > CHUNKS_MAX {
        return Err(algo.error(format!("`nchunksperloop` is {chunks}")));
    }
    let mut list: Vec<Option<Gpu>> = (0..ranks).map(|_| None).collect();
    for gpu in gpus {
        let id: u32 = gpu.number("id")?;
        let entry = list.get_mut(id as usize);
        let entry = entry.ok_or_else(|| gpu.error(format!("GPU {id} of {ranks}")))?;
        if entry.replace(read_gpu(gpu)?).is_some() {
            return Err(gpu.error(format!("GPU {id} is there twice")));
        }
    }
    Ok(Program {
        collective: algo.collective()?,
        ranks,
        chunks,
        in_place: match algo.0.attribute("inplace") {
            None => None,
            Some(_) => Some(algo.number::<u8>("inplace")? != 0),
        },
        gpus: list.into_iter().flatten().collect(),
        place: algo.place(),
    })
}

fn read_gpu(gpu: Element) -> Result<Gpu, ReadMscclError> {
    let scratch = match gpu.0.attribute("s_chunks") {
        Some(_) => gpu.number("s_chunks")?,
        None => 0,
    };
    if scratch > CHUNKS_MAX {
        return Err(gpu.error(format!("`s_chunks` is {scratch}")));
    }
    let mut blocks: Vec<ThreadBlock> = Vec::new();
    for tb in gpu.children("tb") {
        let block = read_block(tb)?;
        if blocks.iter().any(|other| other.id == block.id) {
            return Err(tb.error(format!("thread block {} is there twice", block.id)));
        }
        blocks.push(block);
    }
    Ok(Gpu { scratch, blocks })
}

fn read_block(tb: Element) -> Result<ThreadBlock, ReadMscclError> {
    let mut steps = Vec::new();
    for (index, step) in tb.children("step").into_iter().enumerate() {
        let number: usize = step.number("s")?;
        if number != index {
            return Err(step.error(format!("expected step {index}, found {number}")));
        }
        steps.push(read_step(step)?);
    }
    let block = ThreadBlock {
        id: tb.number("id")?,
        send: tb.optional("send")?,
        recv: tb.optional("recv")?,
        channel: tb.number("chan")?,
        steps,
        place: tb.place(),
    };
    for step in &block.steps {
        if step.kind.sends() && block.send.is_none() {
            return Err(step
                .place
                .error("its thread block sends to nobody".to_owned()));
        }
        if step.kind.receives() && block.recv.is_none() {
            return Err(step
                .place
                .error("its thread block receives from nobody".to_owned()));
        }
    }
    Ok(block)
}

fn read_step(step: Element) -> Result<Step, ReadMscclError> {
    let kind = match step.text("type")? {
        "s" => StepKind::Send,
        "r" => StepKind::Recv,
        "rcs" => StepKind::RecvCopySend,
        "rrc" => StepKind::RecvReduceCopy,
        "rrs" => StepKind::RecvReduceSend,
        "rrcs" => StepKind::RecvReduceCopySend,
        "cpy" => StepKind::Copy,
        "re" => StepKind::Reduce,
        "nop" => StepKind::Nop,
        other => {
            let message =
                format!("`{other}` is no step; it is s, r, rcs, rrc, rrs, rrcs, cpy, re or nop");
            return Err(step.error(message));
        }
    };
    let count = step.number("cnt")?;
    if kind != StepKind::Nop && !(1..=CHUNKS_MAX).contains(&count) {
        return Err(step.error(format!("`cnt` is {count}")));
    }
    let waits_for = match step.optional("depid")? {
        Some(block) => Some((block, step.number("deps")?)),
        None => None,
    };
    Ok(Step {
        kind,
        src: step.run("srcbuf", "srcoff")?,
        dst: step.run("dstbuf", "dstoff")?,
        count,
        waits_for,
        place: step.place(),
    })
}

#[derive(Clone, Copy)]
struct Element<'a, 'input>(Node<'a, 'input>);

impl<'a> Element<'a, '_> {
    fn children(self, name: &str) -> Vec<Self> {
        self.0
            .children()
            .filter(|child| child.has_tag_name(name))
            .map(Element)
            .collect()
    }

    fn place(self) -> TextPlace {
        let place = self.0.document().text_pos_at(self.0.range().start);
        TextPlace {
            line: place.row,
            column: place.col,
        }
    }

    fn error(self, message: String) -> ReadMscclError {
        self.place().error(message)
    }

    fn text(self, name: &str) -> Result<&'a str, ReadMscclError> {
        let element = self.0.tag_name().name();
        self.0
            .attribute(name)
            .ok_or_else(|| self.error(format!("`{element}` has no `{name}`")))
    }

    fn number<T: FromStr>(self, name: &str) -> Result<T, ReadMscclError> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| self.error(format!("`{name}` is `{text}`, not a number that it can be")))
    }

    /// Reads a number that is -1 when there is none.
    fn optional(self, name: &str) -> Result<Option<u32>, ReadMscclError> {
        match self.text(name)? {
            "-1" => Ok(None),
            _ => self.number(name).map(Some),
        }
    }

    fn run(self, buffer: &str, offset: &str) -> Result<BufferRun, ReadMscclError> {
        let buffer = match self.text(buffer)? {
            "i" => StepBuffer::Input,
            "o" => StepBuffer::Output,
            "s" => StepBuffer::Scratch,
            other => return Err(self.error(format!("`{other}` is no buffer; it is i, o or s"))),
        };
        // A step without a source or destination may say -1.
        let offset = self.optional(offset)?.unwrap_or(0);
        Ok(BufferRun { buffer, offset })
    }

    fn collective(self) -> Result<Collective, ReadMscclError> {
        let text = self.text("coll")?;
        text.parse()
            .map_err(|()| self.error(format!("`{text}` is no collective that has a name here")))
    }
}

/// Returns a message of `roxmltree` without the position at its end, which has fields of its own.
fn without_position(message: &str) -> String {
    match message.rsplit_once(" at ") {
        Some((text, place)) if place.contains(':') => text.to_owned(),
        _ => message.to_owned(),
    }
}
