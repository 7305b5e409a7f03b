//! From any bytes to UTF-8 text, in constant memory: gzip and zstd by their magic numbers, byte
//! order marks, UTF-16 with and without one.
//!
//! What is not valid UTF-8 afterwards is repaired line by line by whoever reads the lines.

use super::ReadError;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How much of the text the dialects see to recognise themselves.
pub(super) const HEAD_BYTES: u64 = 64 << 10;

const BLOCK_BYTES: usize = 256 << 10;

/// A source of text with its beginning.
pub(super) struct Decoded<'a> {
    /// The first [`HEAD_BYTES`] of the text, repaired where they are not UTF-8.
    pub head: String,
    /// The whole text, the head included.
    pub text: Box<dyn BufRead + 'a>,
    /// The encoding that was undone, when it was not plain UTF-8.
    pub repaired: Option<&'static str>,
}

/// Undoes compression and encoding.
pub(super) fn decode<'a>(input: impl BufRead + 'a) -> Result<Decoded<'a>, ReadError> {
    let (magic, input) = peek(input, 4)?;
    let plain: Box<dyn BufRead + 'a> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => {
            let gzip = Named::new("gzip", MultiGzDecoder::new(input));
            Box::new(BufReader::with_capacity(BLOCK_BYTES, gzip))
        }
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let zstd = Named::new("zstd", ZstdFrames::new(input));
            Box::new(BufReader::with_capacity(BLOCK_BYTES, zstd))
        }
        magic => {
            if let Some(format) = packed(magic) {
                return Err(ReadError::Packed { format });
            }
            Box::new(input)
        }
    };
    let (head, plain) = peek(plain, HEAD_BYTES)?;
    let Some(encoding) = Encoding::of(&head) else {
        let head = String::from_utf8_lossy(&head).into_owned();
        // Large blocks, however small the caller's buffer is.
        let text = Box::new(BufReader::with_capacity(BLOCK_BYTES, plain));
        return Ok(Decoded {
            head,
            text,
            repaired: None,
        });
    };
    let mut plain = plain;
    let mark = &mut [0_u8; 3][..encoding.mark_bytes];
    plain.read_exact(mark).map_err(read_error)?;
    let text: Box<dyn BufRead + 'a> = match encoding.order {
        None => Box::new(plain),
        Some(order) => Box::new(BufReader::with_capacity(
            BLOCK_BYTES,
            Utf16Reader::new(plain, order),
        )),
    };
    let (head, text) = peek(text, HEAD_BYTES)?;
    Ok(Decoded {
        head: String::from_utf8_lossy(&head).into_owned(),
        text: Box::new(text),
        repaired: encoding.order.map(ByteOrder::name),
    })
}

/// Names a compression that is not undone, by its magic number.
const fn packed(magic: &[u8]) -> Option<&'static str> {
    match magic {
        [0xfd, b'7', b'z', b'X'] => Some("xz"),
        [b'B', b'Z', b'h', b'1'..=b'9'] => Some("bzip2"),
        [b'P', b'K', 3, 4] => Some("zip"),
        _ => None,
    }
}

/// Reads up to `bytes` and returns them with a source that still has them.
fn peek<R: BufRead>(mut input: R, bytes: u64) -> Result<(Vec<u8>, impl BufRead), ReadError> {
    let mut head = Vec::new();
    input
        .by_ref()
        .take(bytes)
        .read_to_end(&mut head)
        .map_err(read_error)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// Turns an error of the decoded source into ours.
pub(super) fn read_error(error: io::Error) -> ReadError {
    match error.downcast::<DecodeError>() {
        Ok(DecodeError { format, message }) => ReadError::Compressed { format, message },
        Err(error) => ReadError::Io(error),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("damaged {format} data: {message}")]
struct DecodeError {
    format: &'static str,
    message: String,
}

/// A decoder whose errors carry the format's name.
struct Named<R> {
    format: &'static str,
    inner: R,
}

impl<R> Named<R> {
    fn new(format: &'static str, inner: R) -> Self {
        Self { format, inner }
    }
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            io::Error::other(DecodeError {
                format: self.format,
                message: error.to_string(),
            })
        })
    }
}

/// All frames of a zstd file, one after the other; the library decodes a single one.
struct ZstdFrames<R> {
    input: R,
    decoder: FrameDecoder,
    place: ZstdPlace,
}

#[derive(Clone, Copy, PartialEq)]
enum ZstdPlace {
    BetweenFrames,
    InsideFrame,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(),
            place: ZstdPlace::BetweenFrames,
        }
    }

    /// Reads the header of the next frame, past skippable ones; false at the end of the input.
    fn start_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.input.by_ref().take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    fn check_sum(&self) -> io::Result<()> {
        match (
            self.decoder.get_checksum_from_data(),
            self.decoder.get_calculated_checksum(),
        ) {
            (Some(stored), Some(calculated)) if stored != calculated => {
                Err(io::Error::other("checksum does not match"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.place == ZstdPlace::BetweenFrames {
                if !self.start_frame()? {
                    return Ok(0);
                }
                self.place = ZstdPlace::InsideFrame;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            let taken = self.decoder.read(buffer)?;
            if taken > 0 {
                return Ok(taken);
            }
            self.check_sum()?;
            self.place = ZstdPlace::BetweenFrames;
        }
    }
}

/// An encoding that has to be undone.
struct Encoding {
    mark_bytes: usize,
    order: Option<ByteOrder>,
}

#[derive(Clone, Copy, PartialEq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn name(self) -> &'static str {
        match self {
            Self::Little => "UTF-16 (little endian)",
            Self::Big => "UTF-16 (big endian)",
        }
    }
}

impl Encoding {
    /// Recognises a byte order mark, or NUL in nearly every second byte; `None` for UTF-8.
    fn of(head: &[u8]) -> Option<Self> {
        let marked = |mark_bytes, order| Some(Self { mark_bytes, order });
        match head {
            [0xef, 0xbb, 0xbf, ..] => return marked(3, None),
            [0xff, 0xfe, ..] => return marked(2, Some(ByteOrder::Little)),
            [0xfe, 0xff, ..] => return marked(2, Some(ByteOrder::Big)),
            _ => {}
        }
        let pairs = head.len() / 2;
        let nuls = |offset: usize| {
            let every_second = head.iter().skip(offset).step_by(2);
            every_second.filter(|byte| **byte == 0).count()
        };
        // 9 of 10: a few characters of a name may lie outside ASCII.
        if pairs >= 4 && nuls(1) * 10 >= pairs * 9 && nuls(0) * 10 <= pairs {
            marked(0, Some(ByteOrder::Little))
        } else if pairs >= 4 && nuls(0) * 10 >= pairs * 9 && nuls(1) * 10 <= pairs {
            marked(0, Some(ByteOrder::Big))
        } else {
            None
        }
    }
}

/// UTF-16 to UTF-8; halves of a pair that stand alone become U+FFFD.
struct Utf16Reader<R> {
    input: R,
    order: ByteOrder,
    /// Decoded, not yet handed out.
    ready: Vec<u8>,
    given: usize,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    /// The first byte of a unit.
    odd: Option<u8>,
}

impl<R: BufRead> Utf16Reader<R> {
    fn new(input: R, order: ByteOrder) -> Self {
        Self {
            input,
            order,
            ready: Vec::new(),
            given: 0,
            high: None,
            odd: None,
        }
    }

    /// Decodes one block; nothing is ready afterwards only at the end of the input.
    fn refill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        while self.ready.is_empty() {
            let block = self.input.fill_buf()?;
            let taken = block.len();
            if taken == 0 {
                if self.odd.take().is_some() || self.high.take().is_some() {
                    push_char(&mut self.ready, char::REPLACEMENT_CHARACTER);
                }
                return Ok(());
            }
            for byte in block {
                let Some(first) = self.odd.replace(*byte) else {
                    continue;
                };
                self.odd = None;
                let unit = match self.order {
                    ByteOrder::Little => u16::from_le_bytes([first, *byte]),
                    ByteOrder::Big => u16::from_be_bytes([first, *byte]),
                };
                push_unit(&mut self.ready, &mut self.high, unit);
            }
            self.input.consume(taken);
        }
        Ok(())
    }
}

fn push_unit(ready: &mut Vec<u8>, high: &mut Option<u16>, unit: u16) {
    if let Some(first) = high.take() {
        if let Some(Ok(character)) = char::decode_utf16([first, unit]).next() {
            return push_char(ready, character);
        }
        push_char(ready, char::REPLACEMENT_CHARACTER);
    }
    match unit {
        0xd800..=0xdbff => *high = Some(unit),
        _ => push_char(
            ready,
            char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER),
        ),
    }
}

fn push_char(ready: &mut Vec<u8>, character: char) {
    ready.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

impl<R: BufRead> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            self.refill()?;
        }
        let count = buffer.len().min(self.ready.len() - self.given);
        buffer[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn text(bytes: &[u8]) -> Result<String, ReadError> {
        let mut out = Vec::new();
        let mut text = decode(bytes)?.text;
        text.read_to_end(&mut out).map_err(read_error)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn encodings_come_out_as_one_text() {
        let plain = "# size  time \u{b5}s\r\n 1024  3.5 \u{1f600}\n".repeat(40);
        let with_mark = format!("\u{feff}{plain}");
        for bytes in [
            plain.clone().into_bytes(),
            with_mark.clone().into_bytes(),
            utf16(&with_mark, u16::to_le_bytes),
            utf16(&with_mark, u16::to_be_bytes),
            utf16(&plain, u16::to_le_bytes),
            utf16(&plain, u16::to_be_bytes),
        ] {
            assert_eq!(text(&bytes).unwrap(), plain);
            assert_eq!(text(&gzip(&bytes)).unwrap(), plain);
            assert_eq!(text(&zstd(&bytes)).unwrap(), plain);
        }
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        assert_eq!(
            text(&[gzip(b"a\n"), gzip(b"b\n")].concat()).unwrap(),
            "a\nb\n"
        );
        let skippable = [0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9].to_vec();
        let frames = [skippable.clone(), zstd(b"a\n"), skippable, zstd(b"b\n")].concat();
        assert_eq!(text(&frames).unwrap(), "a\nb\n");
    }

    #[test]
    fn damage_is_an_error_that_names_the_format() {
        let plain = "1024 256 float sum\n".repeat(9000);
        for (packed, format) in [
            (gzip(plain.as_bytes()), "gzip"),
            (zstd(plain.as_bytes()), "zstd"),
        ] {
            let cut = &packed[..packed.len() - packed.len() / 3];
            let error = text(cut).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("damaged {format} data")),
                "{error}"
            );
        }
    }

    #[test]
    fn half_a_character_is_replaced() {
        assert_eq!(
            text(&[0xff, 0xfe, b'a', 0, 0x00, 0xd8]).unwrap(),
            "a\u{fffd}"
        );
        assert_eq!(text(&[0xff, 0xfe, b'a', 0, b'b']).unwrap(), "a\u{fffd}");
    }
}
