//! Fetching files over HTTP; with the feature `network`.
//!
//! Not here: where a fetched file is kept and how it is checked, which is for whoever asks for it.

/// Fetches a file in one go.
pub mod downloader {
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::vec::Vec;
    use core::time::Duration;
    use std::fs::File;
    use std::io::{self, IsTerminal, Read, Write};
    use std::time::Instant;

    /// How long a server may take to let us in, and then to begin its answer.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Bytes that are read at once.
    const CHUNK: usize = 64 * 1024;

    /// Reads the file at `url` into memory; `message` names it while it comes, if somebody watches.
    ///
    /// # Panics
    /// If the file does not come, or not to its end. [`download`] gives that as an error.
    pub fn download_file_as_bytes(url: &str, message: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        match download(url, message, &mut bytes) {
            Ok(_) => bytes,
            Err(error) => panic!("{error}"),
        }
    }

    /// Writes the file at `url` (`http`, `https` or `file`) to `sink` and gives its size in bytes; `message` names it on
    /// the standard error stream while it comes, if that is a terminal.
    ///
    /// # Errors
    /// If the server cannot be reached, does not have the file or stops before its end, or if `sink` cannot be written;
    /// names the URL.
    pub fn download(url: &str, message: &str, sink: &mut dyn Write) -> io::Result<u64> {
        let fail = |kind, problem: &dyn core::fmt::Display| {
            io::Error::new(kind, format!("cannot download {url}: {problem}"))
        };
        let named = |error: io::Error| fail(error.kind(), &error);
        let (mut source, size) = open(url).map_err(named)?;
        let mut watch = Watch::new(message, size);
        let mut buffer = alloc::vec![0; CHUNK];
        let mut done = 0;
        loop {
            let count = match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(named(error)),
            };
            sink.write_all(&buffer[..count]).map_err(named)?;
            done += count as u64;
            watch.show(done);
        }
        match size {
            Some(size) if size != done => Err(fail(
                io::ErrorKind::UnexpectedEof,
                &format!("{done} of {size} bytes came"),
            )),
            _ => Ok(done),
        }
    }

    /// The content of a file and how many bytes it should have.
    fn open(url: &str) -> io::Result<(Box<dyn Read>, Option<u64>)> {
        if let Some(path) = url.strip_prefix("file://") {
            let file = File::open(path)?;
            let size = file.metadata()?.len();
            return Ok((Box::new(file), Some(size)));
        }
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE));
        let agent = ureq::Agent::new_with_config(config.build());
        let answer = agent.get(url).call().map_err(ureq::Error::into_io)?;
        let body = answer.into_body();
        let size = body.content_length();
        Ok((Box::new(body.into_reader()), size))
    }

    /// A line on a terminal that says how far a file is.
    struct Watch<'a> {
        message: &'a str,
        size: Option<u64>,
        shown: Option<Instant>,
    }

    impl<'a> Watch<'a> {
        fn new(message: &'a str, size: Option<u64>) -> Self {
            let shown = io::stderr().is_terminal().then(Instant::now);
            Self {
                message,
                size,
                shown,
            }
        }

        fn show(&mut self, done: u64) {
            let mega = |bytes| bytes as f64 / 1e6;
            let last = self.size == Some(done);
            match &mut self.shown {
                Some(shown) if last || shown.elapsed() > Duration::from_millis(200) => {
                    *shown = Instant::now();
                }
                _ => return,
            }
            let of = self
                .size
                .map_or_else(Default::default, |size| format!(" of {:.1}", mega(size)));
            let end = if last { "\n" } else { "" };
            // Nobody is worse off without this line.
            let _ = write!(
                io::stderr(),
                "\r{}: {:.1}{of} MB{end}",
                self.message,
                mega(done)
            );
        }
    }
}
