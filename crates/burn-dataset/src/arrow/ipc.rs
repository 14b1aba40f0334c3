//! Messages of Arrow's interprocess format, which are the same in streams and in files: a file is a stream between a
//! mark and a footer. So the footer is not needed, and nothing that it says is believed.
//!
//! Format: <https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format>. Lengths are checked
//! against the file before anything of that length is read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, Message, MessageHeader, root_as_message};

use super::chunks::{Source, guarded, invalid};

/// How a file begins; a stream does not.
const FILE: &[u8; 8] = b"ARROW1\0\0";

/// Bytes that the mark is filled up to at most: writers align messages by 8 or by 64.
const FILLED: u64 = 64;

/// What comes before the length of a message, since version 0.15 of the format.
const CONTINUES: u32 = u32::MAX;

/// No byte of an LZ4 block stands for more than 255 (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>).
const LZ4_RATIO: u64 = 255;

/// The record batches of a file.
pub(super) struct Messages {
    path: PathBuf,
    blocks: Vec<Block>,
    decoder: FileDecoder,
}

impl Messages {
    /// Finds the record batches of the file, with their numbers of rows; reads the dictionaries.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<usize>)> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = File::open(path).map_err(named)?;
        let size = file.metadata().map_err(named)?.len();
        guarded(path, || {
            let mut scan = Scan {
                path,
                size,
                next: start(&mut file).map_err(named)?,
                file: &mut file,
            };
            scan.all()
        })
    }
}

impl Source for Messages {
    fn path(&self) -> &Path {
        &self.path
    }

    fn chunk(&self, number: usize) -> io::Result<RecordBatch> {
        let path = &self.path;
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let block = &self.blocks[number];
        // A file of its own, since threads that share one would move each other's position.
        let mut file = File::open(path).map_err(named)?;
        let buffer = body(&mut file, block).map_err(named)?;
        let fail = |problem: String| invalid(path, format!("record batch {number}: {problem}"));
        bounded(block, &buffer).map_err(fail)?;
        let batch = self.decoder.read_record_batch(block, &buffer);
        let batch = batch.map_err(|error| fail(error.to_string()))?;
        batch.ok_or_else(|| fail("there is none".to_owned()))
    }
}

/// Where the first message is: in a file behind the mark and the zeros that fill it up.
fn start(file: &mut File) -> io::Result<u64> {
    let mut head = Vec::new();
    file.take(FILLED).read_to_end(&mut head)?;
    if !head.starts_with(FILE) {
        return Ok(0);
    }
    let words = head.chunks(FILE.len()).skip(1);
    let zeros = words.take_while(|word| word.iter().all(|&byte| byte == 0));
    Ok(((1 + zeros.count()) * FILE.len()).min(head.len()) as u64)
}

/// Reads a message with its body. The scan has checked that the file is so long.
fn body(file: &mut File, block: &Block) -> io::Result<Buffer> {
    file.seek(SeekFrom::Start(block.offset() as u64))?;
    let mut bytes = vec![0; block.metaDataLength() as usize + block.bodyLength() as usize];
    file.read_exact(&mut bytes)?;
    Ok(Buffer::from_vec(bytes))
}

/// Goes from message to message, reading no more than their heads.
struct Scan<'a> {
    path: &'a Path,
    size: u64,
    file: &'a mut File,
    next: u64,
}

impl Scan<'_> {
    fn all(&mut self) -> io::Result<(Messages, Vec<usize>)> {
        let first = self.head()?;
        let (_, head) =
            first.ok_or_else(|| self.invalid("it is no Arrow file, or one without a schema"))?;
        let message = self.message(&head)?;
        let schema = message.header_as_schema();
        let schema = schema.ok_or_else(|| self.invalid("it does not begin with a schema"))?;
        let schema = try_fb_to_schema(schema).map_err(|error| self.invalid(&error.to_string()))?;
        let mut decoder = FileDecoder::new(Arc::new(schema), message.version());
        let (mut blocks, mut lens, mut dictionaries) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((block, head)) = self.head()? {
            let message = self.message(&head)?;
            match message.header_type() {
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch().map(|batch| batch.length());
                    let len = batch.and_then(|len| usize::try_from(len).ok());
                    lens.push(len.ok_or_else(|| self.invalid("a record batch has no length"))?);
                    blocks.push(block);
                }
                MessageHeader::DictionaryBatch => {
                    let Some(dictionary) = message.header_as_dictionary_batch() else {
                        return Err(self.invalid("a dictionary has no content"));
                    };
                    // Batches are read in any order, so that what is said once must hold for all of them.
                    if !dictionary.isDelta() && dictionaries.contains(&dictionary.id()) {
                        return Err(self.invalid("it replaces a dictionary, which only streams can that are read in order"));
                    }
                    dictionaries.push(dictionary.id());
                    let buffer = body(self.file, &block)?;
                    bounded(&block, &buffer).map_err(|problem| self.invalid(&problem))?;
                    let read = decoder.read_dictionary(&block, &buffer);
                    read.map_err(|error| self.invalid(&error.to_string()))?;
                }
                other => {
                    return Err(
                        self.invalid(&format!("a message is {other:?}, not a record batch"))
                    );
                }
            }
        }
        let path = self.path.to_owned();
        Ok((
            Messages {
                path,
                blocks,
                decoder,
            },
            lens,
        ))
    }

    /// The next message's place and its head, and the position moves behind it; `None` at the end.
    fn head(&mut self) -> io::Result<Option<(Block, Vec<u8>)>> {
        if self.next == self.size {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(self.next))?;
        let mut prefix = 4;
        let mut len = self.word()?;
        if len == CONTINUES {
            prefix = 8;
            len = self.word()?;
        }
        if len == 0 {
            // The end of the stream; in a file the footer follows.
            self.next = self.size;
            return Ok(None);
        }
        let left = self.size - self.next;
        let whole = prefix + u64::from(len);
        if whole > left || i32::try_from(whole).is_err() {
            return Err(self.invalid(&format!("a message claims {len} bytes, {left} are left")));
        }
        let mut head = vec![0; len as usize];
        self.file.read_exact(&mut head)?;
        let body = self.message(&head)?.bodyLength();
        match u64::try_from(body) {
            Ok(body) if body <= left - whole => {}
            _ => {
                return Err(self.invalid(&format!(
                    "a message claims a body of {body} bytes, {} are left",
                    left - whole
                )));
            }
        }
        let block = Block::new(self.next as i64, whole as i32, body);
        self.next += whole + body as u64;
        Ok(Some((block, head)))
    }

    fn word(&mut self) -> io::Result<u32> {
        let mut word = [0; 4];
        let read = self.file.read_exact(&mut word);
        read.map_err(|_| self.invalid("it ends within a message"))?;
        Ok(u32::from_le_bytes(word))
    }

    fn message<'a>(&self, head: &'a [u8]) -> io::Result<Message<'a>> {
        root_as_message(head)
            .map_err(|error| self.invalid(&format!("a message is damaged: {error}")))
    }

    fn invalid(&self, problem: &str) -> io::Error {
        invalid(self.path, problem)
    }
}

/// Checks what the compressed buffers of a message claim to be: the decoder makes room for it before it decompresses.
fn bounded(block: &Block, bytes: &[u8]) -> Result<(), String> {
    let (head, body) = bytes.split_at(block.metaDataLength() as usize);
    let prefix = if head.starts_with(&CONTINUES.to_le_bytes()) {
        8
    } else {
        4
    };
    let message = root_as_message(&head[prefix..]).map_err(|error| error.to_string())?;
    let dictionary = message
        .header_as_dictionary_batch()
        .and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else {
        return Ok(());
    };
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, len) = (buffer.offset() as usize, buffer.length() as usize);
        let compressed = body.get(offset..).and_then(|rest| rest.get(..len));
        // An empty buffer has no claim; what lies outside of the body is the decoder's to refuse.
        let Some(claim) = compressed.and_then(|bytes| bytes.first_chunk()) else {
            continue;
        };
        // -1 says that the buffer is not compressed after all.
        let claim = i64::from_le_bytes(*claim).max(0) as u64;
        if claim > LZ4_RATIO * len as u64 {
            return Err(format!("a buffer of {len} bytes claims to hold {claim}"));
        }
    }
    Ok(())
}
