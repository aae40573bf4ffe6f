/// The one place that sees Boost. Everything happens in one thread: an accept loop, a session a connection, a watcher a
/// WebSocket; what the simulation's thread does is to post a wake-up.

#include "apps/cli/view_server.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <functional>
#include <limits>
#include <list>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Error = beast::error_code;

constexpr auto kRequestTime = std::chrono::seconds(10);
constexpr auto kAnswerTime = std::chrono::seconds(120);
/// What watchers have to hear that the command ends.
constexpr auto kFarewellTime = std::chrono::milliseconds(500);
constexpr std::uint32_t kMostHeader = 8192;
/// Watchers have nothing to say.
constexpr std::size_t kMostMessage = 1024;
constexpr int kMostConnections = 64;
/// A watcher who is farther behind goes on with the newest frame.
constexpr std::size_t kMostBehind = 240;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

using Text = LiveRecording::Text;

Text shared_text(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// What all connections share. Used in the server's thread only, but for `page` and `recording`.
struct Shared {
  Text page;
  LiveRecording& recording;
  std::uint16_t port = 0;
  int connections = 0;
  /// Those who have not said yet what they want, the oldest first.
  std::list<class Session*> silent{};
  std::set<class Watcher*> watchers{};
  /// Called when the last watcher has left. There once the command ends.
  std::function<void()> when_alone{};

  [[nodiscard]] bool is_our_host(std::string_view host) const {
    const std::string end = ":" + std::to_string(port);
    // browsers leave out the port of HTTP
    if (port == 80 && (host == "127.0.0.1" || host == "localhost")) return true;
    return host == "127.0.0.1" + end || host == "localhost" + end;
  }
  [[nodiscard]] bool is_our_origin(std::string_view origin) const {
    constexpr std::string_view kScheme = "http://";
    return origin.starts_with(kScheme) && is_our_host(origin.substr(kScheme.size()));
  }
};

/// Counts itself among the connections as long as it lives.
class Counted {
 public:
  explicit Counted(Shared& shared) : shared_(shared) { ++shared_.connections; }
  ~Counted() { --shared_.connections; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 protected:
  Shared& shared_;  // NOLINT(misc-non-private-member-variables-in-classes): of the connections below
};

/// A WebSocket that is told the frames. One message is on its way at a time, so a slow watcher costs no memory.
class Watcher : public std::enable_shared_from_this<Watcher>, Counted {
 public:
  Watcher(Shared& shared, beast::tcp_stream&& stream, double after)
      : Counted(shared), stream_(std::move(stream)), last_t_(after) {}
  ~Watcher() {
    shared_.watchers.erase(this);
    if (shared_.when_alone && shared_.watchers.empty()) shared_.when_alone();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void start(const http::request<http::empty_body>& request) {
    beast::get_lowest_layer(stream_).expires_never();
    stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    stream_.read_message_max(kMostMessage);
    stream_.text(true);
    stream_.auto_fragment(false);
    shared_.watchers.insert(this);
    stream_.async_accept(request, [self = shared_from_this()](Error error) {
      if (error) return;
      self->open_ = true;
      self->read();
      self->wake();
    });
  }

  /// Sends the next frame if there is one and nothing is on its way.
  void wake() {
    if (!open_ || writing_ || ended_) return;
    if (shared_.when_alone) {
      ended_ = true;
      send(shared_text("gone"));
    } else if (auto frame = shared_.recording.after(last_t_, kMostBehind)) {
      last_t_ = frame->t;
      send(std::move(frame->text));
    } else if (shared_.recording.finished()) {
      ended_ = true;
      send(shared_text("end " + std::to_string(shared_.recording.num_frames())));
    }
  }

 private:
  void send(Text text) {
    writing_ = true;
    const auto buffer = asio::buffer(*text);
    stream_.async_write(buffer, [self = shared_from_this(), text = std::move(text)](Error error, std::size_t) {
      self->writing_ = false;
      if (error) return;
      if (self->ended_)
        self->stream_.async_close(websocket::close_code::normal, [self](Error) {});
      else
        self->wake();
    });
  }

  /// So that a close, a ping or a message that is too long is noticed.
  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](Error error, std::size_t) {
      if (error) {
        self->open_ = false;
        return;
      }
      self->buffer_.clear();
      self->read();
    });
  }

  websocket::stream<beast::tcp_stream> stream_;
  beast::flat_buffer buffer_;
  double last_t_;
  bool open_ = false;
  bool writing_ = false;
  bool ended_ = false;
};

/// One request, one answer.
class Session : public std::enable_shared_from_this<Session>, Counted {
 public:
  Session(Shared& shared, tcp::socket&& socket)
      : Counted(shared), stream_(std::move(socket)), place_(shared.silent.insert(shared.silent.end(), this)) {}
  ~Session() { leave_silent(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// To make room for others.
  void drop() {
    leave_silent();
    stream_.close();
  }

  void start() {
    parser_.header_limit(kMostHeader);
    parser_.body_limit(0);
    stream_.expires_after(kRequestTime);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](Error error, std::size_t) {
      self->leave_silent();
      if (error == http::error::end_of_stream || error == beast::error::timeout ||
          error == asio::error::operation_aborted)
        return;
      const http::verb method = self->parser_.get().method();
      const bool has_only_a_body = error == http::error::body_limit && method != http::verb::get;
      if (error && !has_only_a_body) return self->refuse(http::status::bad_request, "this is not a request");
      self->answer();
    });
  }

 private:
  void leave_silent() {
    if (is_silent_) shared_.silent.erase(place_);
    is_silent_ = false;
  }

  void answer() {
    const http::request<http::empty_body>& request = parser_.get();
    if (request.count(http::field::host) != 1 || !shared_.is_our_host(view(request[http::field::host])))
      return refuse(http::status::forbidden, "this server answers to 127.0.0.1 and localhost only");
    const bool has_origin = request.find(http::field::origin) != request.end();
    if (has_origin && !shared_.is_our_origin(view(request[http::field::origin])))
      return refuse(http::status::forbidden, "this server answers to its own page only");

    std::string_view target = view(request.target());
    const std::size_t question = target.find('?');
    const std::string_view query = question == std::string_view::npos ? "" : target.substr(question + 1);
    target = target.substr(0, question);
    if (target == "/live") return watch(query, has_origin);
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return refuse(http::status::method_not_allowed, "only GET and HEAD");
    if (target == "/") return send(http::status::ok, "text/html; charset=utf-8", {shared_.page});
    if (target == "/recording") return send_recording();
    refuse(http::status::not_found, "there is the page (/), its data (/recording) and nothing else");
  }

  void watch(std::string_view query, bool has_origin) {
    if (!websocket::is_upgrade(parser_.get())) return refuse(http::status::upgrade_required, "this is a WebSocket");
    // browsers always say who asks
    if (!has_origin) return refuse(http::status::forbidden, "this server answers to its own page only");
    double after = -std::numeric_limits<double>::infinity();
    constexpr std::string_view kAfter = "after=";
    if (query.starts_with(kAfter)) {
      const std::string_view number = query.substr(kAfter.size());
      const auto result = std::from_chars(number.data(), number.data() + number.size(), after);
      if (result.ec != std::errc() || result.ptr != number.data() + number.size())
        return refuse(http::status::bad_request, "after: must be a number");
    }
    std::make_shared<Watcher>(shared_, std::move(stream_), after)->start(parser_.get());
  }

  void send_recording() {
    // asked first: a run that ends in between is then taken for one that goes on, which its watcher will hear of
    const bool live = !shared_.recording.finished();
    std::vector<Text> pieces = shared_.recording.pieces();
    if (pieces.empty()) return refuse(http::status::not_found, "there is no recording yet");
    send(http::status::ok, "application/json", std::move(pieces), live);
  }

  void refuse(http::status status, const std::string& reason) {
    send(status, "text/plain; charset=utf-8", {shared_text(reason + "\n")});
  }

  /// An answer and what it takes to send it: nothing of the body is copied, so clients that do not read cost no memory.
  struct Answer {
    Answer(http::status status, std::vector<Text>&& pieces) : head(status, 11), body(std::move(pieces)) {}

    [[nodiscard]] std::vector<asio::const_buffer> buffers() const {
      std::vector<asio::const_buffer> buffers;
      for (const Text& piece : body) buffers.push_back(asio::buffer(*piece));
      return buffers;
    }

    http::response<http::empty_body> head;
    http::response_serializer<http::empty_body> serializer{head};
    std::vector<Text> body;
  };

  void send(http::status status, const char* type, std::vector<Text> body, bool live = false) {
    const auto shared_answer = std::make_shared<Answer>(status, std::move(body));
    http::response<http::empty_body>* const answer = &shared_answer->head;
    answer->set(http::field::server, "tangere");
    answer->set(http::field::content_type, type);
    answer->set(http::field::cache_control, "no-store");
    answer->set("X-Content-Type-Options", "nosniff");
    answer->set("Cross-Origin-Resource-Policy", "same-origin");
    answer->set("Referrer-Policy", "no-referrer");
    answer->set("Content-Security-Policy",
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
                "connect-src 'self' ws://127.0.0.1:" +
                    std::to_string(shared_.port) + " ws://localhost:" + std::to_string(shared_.port) +
                    "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (live) answer->set("X-Tangere-Live", "1");
    if (status == http::status::method_not_allowed) answer->set(http::field::allow, "GET, HEAD");
    if (status == http::status::upgrade_required) answer->set(http::field::upgrade, "websocket");
    answer->keep_alive(false);
    answer->content_length(asio::buffer_size(shared_answer->buffers()));
    stream_.expires_after(kAnswerTime);
    http::async_write_header(stream_, shared_answer->serializer,
                             [self = shared_from_this(), shared_answer](Error error, std::size_t) {
                               if (error || self->parser_.get().method() == http::verb::head) return self->end();
                               self->send_body(shared_answer);
                             });
  }

  void send_body(const std::shared_ptr<Answer>& answer) {
    asio::async_write(stream_, answer->buffers(),
                      [self = shared_from_this(), answer](Error, std::size_t) { self->end(); });
  }

  void end() {
    Error ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    drain();
  }

  /// What is still coming is read and dropped for a moment: closing on it would take the answer away from the client.
  void drain() {
    stream_.expires_after(std::chrono::seconds(2));
    stream_.async_read_some(asio::buffer(rest_), [self = shared_from_this()](Error error, std::size_t size) {
      self->drained_ += size;
      if (!error && self->drained_ < (std::size_t{1} << 20)) self->drain();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeader + 4096};
  http::request_parser<http::empty_body> parser_;
  std::array<char, 4096> rest_{};
  std::size_t drained_ = 0;
  std::list<Session*>::iterator place_;
  bool is_silent_ = true;
};

}  // namespace

class ViewServer::Implementation {
 public:
  Implementation(std::string page, LiveRecording& recording, std::uint16_t port)
      : shared_{.page = shared_text(std::move(page)), .recording = recording}, acceptor_(context_) {
    listen(port);
    recording.set_wake([this] {
      // one wake-up at a time is enough, however many frames come
      if (!waking_.exchange(true)) asio::post(context_, [this] { wake_all(); });
    });
    accept();
    thread_ = std::jthread([this] { context_.run(); });
  }

  ~Implementation() {
    shared_.recording.set_wake({});
    asio::post(context_, [this] { say_farewell(); });
    thread_.join();
    shared_.when_alone = {};
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[nodiscard]] std::string address() const { return "http://127.0.0.1:" + std::to_string(shared_.port) + "/"; }

 private:
  void listen(std::uint16_t port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    Error error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) throw InputError("--port", "cannot listen on " + std::to_string(port) + ": " + error.message());
    shared_.port = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept([this](Error error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      // too many: one that says nothing has to go, else this one is closed at once
      if (!error && make_room()) std::make_shared<Session>(shared_, std::move(socket))->start();
      // out of descriptors, or the like: not at full speed
      if (error) {
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([this](Error) { accept(); });
        return;
      }
      accept();
    });
  }

  /// False if all who are here have said what they want.
  bool make_room() {
    if (shared_.connections < kMostConnections) return true;
    if (shared_.silent.empty()) return false;
    shared_.silent.front()->drop();
    return true;
  }

  void say_farewell() {
    acceptor_.close();
    if (shared_.watchers.empty()) return context_.stop();
    shared_.when_alone = [this] { context_.stop(); };
    wake_all();
    pause_.expires_after(kFarewellTime);
    pause_.async_wait([this](Error) { context_.stop(); });
  }

  void wake_all() {
    waking_ = false;
    for (Watcher* watcher : shared_.watchers) watcher->wake();
  }

  Shared shared_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{context_};
  std::atomic<bool> waking_ = false;
  std::jthread thread_;
};

ViewServer::ViewServer(std::string page, LiveRecording& recording, std::uint16_t port)
    : implementation_(std::make_unique<Implementation>(std::move(page), recording, port)) {}
ViewServer::~ViewServer() = default;

std::string ViewServer::address() const { return implementation_->address(); }

}  // namespace tangere::cli
