//! A web server with a log, which is shut down while requests are served.
//!
//! Source: Jigsaw of the MCR paper, “a web server application from W3C”, with the null pointer that the paper found in
//! it: the logger is used to log a request, and is taken away by `cleanup`. Connections are in memory.
//!
//! The bug: `log` looks whether there is a log, and then takes its lock again to write to it. `shut_down` waits for no
//! request that is being served.
//!
//! Threads: one that serves meets the main thread, which shuts down; or two clients, two that serve and the main thread.
//! Of two, one read of the one that serves, of the log, sees a write of the main thread.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What two ends of a connection have sent to each other.
#[derive(Default)]
struct Connection {
    request: Mutex<String>,
    response: Mutex<String>,
}

impl Connection {
    fn send(&self, request: &str) {
        self.request.lock().unwrap().push_str(request);
    }

    fn request(&self) -> String {
        self.request.lock().unwrap().clone()
    }

    fn respond(&self, response: &Response) {
        let head = format!("HTTP/1.1 {}\r\n", response.status());
        let length = format!("Content-Length: {}\r\n\r\n", response.body().len());
        let mut text = self.response.lock().unwrap();
        *text = head + &length + response.body();
    }

    fn response(&self) -> String {
        self.response.lock().unwrap().clone()
    }
}

enum Response {
    Found(&'static str),
    NotFound,
    BadRequest,
}

impl Response {
    fn status(&self) -> &'static str {
        match self {
            Self::Found(_) => "200 OK",
            Self::NotFound => "404 Not Found",
            Self::BadRequest => "400 Bad Request",
        }
    }

    fn body(&self) -> &'static str {
        match self {
            Self::Found(body) => body,
            Self::NotFound | Self::BadRequest => "",
        }
    }
}

/// The path that is asked for.
fn parse(request: &str) -> Option<&str> {
    let line = request.lines().next()?;
    let mut words = line.split(' ');
    let (method, path, version) = (words.next()?, words.next()?, words.next()?);
    let is_http = version.starts_with("HTTP/1.");
    (method == "GET" && is_http && words.next().is_none()).then_some(path)
}

struct Server {
    resources: BTreeMap<&'static str, &'static str>,
    /// Connections that nobody serves yet.
    backlog: Mutex<VecDeque<Arc<Connection>>>,
    finishing: AtomicBool,
    logger: Mutex<Option<Vec<String>>>,
}

impl Server {
    fn new() -> Self {
        Self {
            resources: BTreeMap::from([("/", "Welcome"), ("/about", "A small server")]),
            backlog: Mutex::default(),
            finishing: AtomicBool::new(false),
            logger: Mutex::new(Some(Vec::new())),
        }
    }

    fn connect(&self, request: &str) -> Arc<Connection> {
        let connection = Arc::new(Connection::default());
        connection.send(request);
        self.backlog
            .lock()
            .unwrap()
            .push_back(Arc::clone(&connection));
        connection
    }

    fn accept(&self) -> Option<Arc<Connection>> {
        self.backlog.lock().unwrap().pop_front()
    }

    /// Serves what has come in until the server is shut down.
    fn run(&self) {
        while !self.finishing.load(Ordering::SeqCst) {
            let Some(connection) = self.accept() else {
                return;
            };
            self.serve(&connection);
        }
    }

    fn serve(&self, connection: &Connection) {
        let request = connection.request();
        let path = parse(&request);
        let response = match path.map(|path| self.resources.get(path)) {
            Some(Some(body)) => Response::Found(body),
            Some(None) => Response::NotFound,
            None => Response::BadRequest,
        };
        connection.respond(&response);
        self.log(path.unwrap_or("-"), response.status());
    }

    fn log(&self, path: &str, status: &str) {
        if self.logger.lock().unwrap().is_none() {
            return;
        }
        let mut logger = self.logger.lock().unwrap();
        let lines = logger.as_mut().expect("the log is closed");
        lines.push(format!("{path} {status}"));
    }

    fn shut_down(&self) -> Vec<String> {
        self.finishing.store(true, Ordering::SeqCst);
        self.cleanup()
    }

    fn cleanup(&self) -> Vec<String> {
        self.logger.lock().unwrap().take().unwrap_or_default()
    }
}

#[test]
fn the_server_is_shut_down() {
    let server = Arc::new(Server::new());
    let connection = server.connect("GET /about HTTP/1.1\r\nHost: here\r\n\r\n");
    let serving = {
        let server = Arc::clone(&server);
        thread::spawn(move || server.run())
    };
    let lines = server.shut_down();
    serving.join().unwrap();
    assert!(lines.len() <= 1, "there is one request");
    let response = connection.response();
    assert!(response.is_empty() || response.ends_with("\r\n\r\nA small server"));
}

#[test]
fn clients_come_and_go() {
    let server = Arc::new(Server::new());
    let clients = ["GET / HTTP/1.0\r\n\r\n", "PUT / HTTP/1.0\r\n\r\n"].map(|request| {
        let server = Arc::clone(&server);
        thread::spawn(move || server.connect(request))
    });
    let serving = [(); 2].map(|()| {
        let server = Arc::clone(&server);
        thread::spawn(move || server.run())
    });
    server.shut_down();
    let connections = clients.map(|client| client.join().unwrap());
    for thread in serving {
        thread.join().unwrap();
    }
    for (connection, body) in connections.iter().zip(["Welcome", ""]) {
        let response = connection.response();
        let end = format!("\r\n\r\n{body}");
        assert!(response.is_empty() || response.ends_with(&end));
    }
}
