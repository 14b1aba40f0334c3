//! Files that are fetched once and kept.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use burn_std::network::downloader::download;

/// A file on the network, and the sum that says whether it came whole.
#[derive(Clone, Copy)]
pub(crate) struct Remote<'a> {
    pub url: &'a str,
    /// MD5 in hexadecimal, as the publishers of datasets give it. It finds damage, not forgery: that is up to HTTPS.
    pub md5: &'a str,
}

impl Remote<'_> {
    /// The path of the file in `dir`, to where it is fetched if it is not there. A file appears there only when it is
    /// whole, so that neither an interruption nor a second process leaves half of one.
    ///
    /// # Errors
    /// If the file does not come, is not the one expected or cannot be kept; names the URL.
    pub fn cached(self, dir: &Path) -> io::Result<PathBuf> {
        let name = self.url.rsplit('/').next().unwrap_or_default();
        let path = dir.join(name);
        if path.is_file() {
            return Ok(path);
        }
        fs::create_dir_all(dir)?;
        let part = dir.join(format!("{name}.part-{}", process::id()));
        let kept = self
            .fetch(name, &part)
            .and_then(|()| fs::rename(&part, &path));
        if kept.is_err() {
            // It may not exist, and who fails to remove it has a better error to report.
            let _ = fs::remove_file(&part);
        }
        kept.map(|()| path)
    }

    fn fetch(self, name: &str, part: &Path) -> io::Result<()> {
        let mut sink = Summing {
            inner: BufWriter::new(File::create(part)?),
            sum: md5::Context::new(),
        };
        download(self.url, name, &mut sink)?;
        sink.inner.flush()?;
        sink.inner.get_ref().sync_all()?;
        let sum = format!("{:x}", sink.sum.finalize());
        if sum == self.md5 {
            return Ok(());
        }
        let Self { url, md5 } = self;
        let text = format!("{url} is not the file expected: its MD5 is {sum} and not {md5}");
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }
}

/// Writes, and sums up what it wrote.
struct Summing<W> {
    inner: W,
    sum: md5::Context,
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum.consume(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const SUM: &str = "5eb63bbbe01eeed093cb22bb8f5acdc3";

    /// Answers one request on the loopback with `answer`, and gives the address.
    fn serve(answer: &'static str) -> (String, thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a port");
        let address = listener.local_addr().expect("it is bound");
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let mut lines =
                BufReader::new(stream.try_clone().expect("a socket can be cloned")).lines();
            let request = lines.next().expect("a request").expect("it is text");
            for line in lines.by_ref() {
                if line.expect("a header is text").is_empty() {
                    break;
                }
            }
            stream
                .write_all(answer.as_bytes())
                .expect("the client listens");
            request
        });
        (format!("http://{address}/data/hello.bin"), served)
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("it exists");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("it can be listed").file_name();
        entries
            .map(|entry| name(entry).into_string().expect("names are text"))
            .collect()
    }

    #[test]
    fn a_file_is_fetched_once_and_kept() {
        let dir = tempfile::tempdir().expect("a folder can be made");
        let (url, served) =
            serve("HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\nhello world");
        let remote = Remote {
            url: &url,
            md5: SUM,
        };
        for _ in 0..2 {
            let path = remote.cached(dir.path()).expect("it comes, or is there");
            assert_eq!(fs::read(path).expect("it can be read"), b"hello world");
        }
        let request = served.join().expect("one request came");
        assert_eq!(request, "GET /data/hello.bin HTTP/1.1");
        assert_eq!(names(dir.path()), ["hello.bin"]);
    }

    #[test]
    fn a_file_that_is_not_whole_or_not_the_one_expected_is_not_kept() {
        for (answer, problem) in [
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\nhello",
                "cannot download",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
                "its MD5 is 5d41402abc",
            ),
        ] {
            let dir = tempfile::tempdir().expect("a folder can be made");
            let (url, served) = serve(answer);
            let remote = Remote {
                url: &url,
                md5: SUM,
            };
            let error = remote
                .cached(dir.path())
                .expect_err("it is not there")
                .to_string();
            assert!(error.contains(problem) && error.contains(&url), "{error}");
            assert!(names(dir.path()).is_empty());
            served.join().expect("one request came");
        }
    }

    #[test]
    fn a_file_url_is_read_from_the_disk() {
        let dir = tempfile::tempdir().expect("a folder can be made");
        let source = dir.path().join("source.bin");
        fs::write(&source, "hello world").expect("it can be written");
        let url = format!("file://{}", source.display());
        let path = Remote {
            url: &url,
            md5: SUM,
        }
        .cached(&dir.path().join("cache"));
        assert_eq!(
            fs::read(path.expect("it is there")).expect("it can be read"),
            b"hello world"
        );
    }
}
