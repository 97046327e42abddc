#include "net/http/transfer.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "net/http/handle.h"

namespace kin::net {
namespace {

constexpr std::size_t kMostHeaderBytes = std::size_t{128} << 10;
// A small body may unpack to many times its size without harm.
constexpr std::uint64_t kRatioCountsAbove = std::uint64_t{1} << 20;
// The check of the ratio is as coarse as the buffer, so bodies that are kept in memory get a small
// one.
constexpr long kReadBuffer = 16 << 10;
constexpr long kSinkBuffer = 256 << 10;

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->take_header({bytes, size * count});
}
std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->take_body({bytes, size * count});
}
std::size_t on_read(char* into, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->give_body({into, size * count});
}
int on_about_to_send(void* transfer, char*, char*, int, int) {
  return static_cast<Transfer*>(transfer)->about_to_send() ? CURL_PREREQFUNC_OK
                                                           : CURL_PREREQFUNC_ABORT;
}
curl_socket_t on_open_socket(void* transfer, curlsocktype, curl_sockaddr* address) {
  return static_cast<Transfer*>(transfer)->open_socket(address);
}

// Header fields that identify the caller. They are sent to the origin only, as credentials are.
bool is_private_field(std::string_view name) {
  constexpr std::string_view kPrivate[] = {"authorization", "cookie", "proxy-authorization"};
  return std::ranges::find(kPrivate, ascii_lowered(name)) != std::end(kPrivate);
}

bool is_method(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_ascii_alpha(c) || is_ascii_digit(c) || c == '-' || c == '_';
  });
}

bool breaks_line(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? fmt::format("{} KiB", bytes >> 10)
                                                    : fmt::format("{} bytes", bytes);
}

}  // namespace

Transfer::Transfer(const HttpRequest& request, const HttpOptions& options, HandlePool& handles,
                   SocketWatch& sockets)
    : request_(request),
      options_(options),
      handles_(handles),
      sockets_(sockets),
      budgets_(request.budgets ? *request.budgets : options.budgets),
      method_(!request.method.empty() ? request.method : (request.body ? "POST" : "GET")),
      credentials_(request.credentials) {}

Transfer::~Transfer() {
  release();
}

HandleUse Transfer::use() const {
  const bool plain = request_.body && !request_.body->source && method_ == "POST" &&
                     credentials_.kind == Credentials::Kind::kNone;
  return plain ? HandleUse::kPost : HandleUse::kOther;
}

void Transfer::release() {
  if (handle_) handles_.give_back(std::move(handle_), done_ ? use() : HandleUse::kOther);
}

Status Transfer::prepare(Result<Url> url) {
  KIN_TRY(url_, std::move(url));
  if (!is_method(method_))
    return Error{Code::kInvalidArgument, fmt::format("\"{}\" is not an HTTP method", method_)};
  if (credentials_.kind == Credentials::Kind::kNone) credentials_ = credentials_in(*url_);
  origin_ = url_->origin();
  headers_ = request_.headers;
  if (request_.body && !request_.body->type.empty())
    headers_.push_back({"Content-Type", request_.body->type});
  if (breaks_line(credentials_.secret) || breaks_line(credentials_.user))
    return Error{Code::kInvalidArgument, "the credentials contain a line break"};
  return check_port();
}

Status Transfer::check_port() const {
  if (is_refused_port(url_->port()))
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: port {} is used by another protocol and is not allowed for HTTP",
                             url_->origin(), url_->port())};
  return Done{};
}

std::uint64_t Transfer::most_bytes() const {
  return request_.most_bytes == 0 ? budgets_.bytes : std::min(budgets_.bytes, request_.most_bytes);
}

SteadyTime Transfer::deadline() const {
  const SteadyTime by_budget = *started_ + budgets_.total;
  return request_.deadline ? std::min(by_budget, *request_.deadline) : by_budget;
}

std::chrono::milliseconds Transfer::time_left() const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline() - options_.clock->steady_now());
  return std::max(left, std::chrono::milliseconds(1));
}

Error Transfer::too_late() const {
  return with_context(request_.url, {Code::kUnavailable, "the deadline passed before it was sent"});
}

Status Transfer::sign() {
  if (request_.signer)
    KIN_RETURN_IF_ERROR(request_.signer({.method = method_,
                                         .url = *url_,
                                         .body = request_.body ? &*request_.body : nullptr,
                                         .headers = headers_}));
  for (const Header& header : headers_) {
    if (breaks_line(header.name) || breaks_line(header.value))
      return Error{Code::kInvalidArgument,
                   fmt::format("the header field {} of the request contains a line break",
                               header.name.substr(0, header.name.find_first_of("\r\n")))};
  }
  return Done{};
}

Result<void*> Transfer::start() {
  if (!started_) {
    started_ = options_.clock->steady_now();
    KIN_RETURN_IF_ERROR(sign());
  }
  // A handle of its own for each hop: nothing set for one host reaches the next.
  release();
  handle_ = handles_.take(use());
  header_bytes_ = 0;
  body_bytes_ = 0;
  done_ = false;
  sending_ = false;
  refusal_.reset();
  const auto moved = std::move(response_.moved_to);
  response_ = {};
  response_.moved_to = moved;
  response_.url = url_->request_text();
  at_origin_ = url_->origin() == origin_;
  set_options();
  set_limits();
  set_headers();
  set_method();
  if (at_origin_) set_credentials();
  return static_cast<void*>(handle_->easy);
}

// All settings that are not the client's (see HandlePool), here and below. A handle of kPost gets
// each of them for every request.
void Transfer::set_options() {
  CURL* const easy = handle_->easy;
  curl_easy_setopt(easy, CURLOPT_URL, response_.url.c_str());
  // An empty list stands for all that libcurl can unpack.
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, request_.decompress ? "" : nullptr);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, request_.sink ? kSinkBuffer : kReadBuffer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_about_to_send);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
}

void Transfer::set_limits() {
  CURL* const easy = handle_->easy;
  const bool by_machine = options_.clock == &system_clock();
  // libcurl cannot see another clock: the dispatcher ends transfers then.
  const auto left = by_machine ? time_left() : std::chrono::milliseconds::max();
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min(budgets_.connect, left).count()));
  if (by_machine) curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(left.count()));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(budgets_.slowest));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(budgets_.slowest_for.count()));
  const auto most = std::min<std::uint64_t>(most_bytes(), std::numeric_limits<curl_off_t>::max());
  // Stops at a Content-Length that is too long. take_body() counts bytes without one.
  curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(most));
}

void Transfer::set_headers() {
  std::string& lines = handle_->lines;
  lines.clear();
  for (const Header& header : headers_) {
    if (!at_origin_ && is_private_field(header.name)) continue;
    lines += header.name;
    // libcurl drops a field without a value unless it ends in ';'.
    if (header.value.empty())
      lines += ';';
    else
      lines.append(": ").append(header.value);
    lines += '\0';
  }
  constexpr std::string_view kNoExpect("Expect:\0", 8);
  constexpr std::string_view kNoType("Content-Type:\0", 14);
  // Waiting for "100 Continue" costs a second with servers that do not send it.
  if (request_.body && !find_header(headers_, "expect")) lines += kNoExpect;
  // Without a type of ours, libcurl would name one for forms.
  if (request_.body && !find_header(headers_, "content-type")) lines += kNoType;
  handle_->set_header_lines();
}

void Transfer::set_method() {
  CURL* const easy = handle_->easy;
  if (request_.body && request_.body->source) {
    const auto& length = request_.body->length;
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                     length ? static_cast<curl_off_t>(*length) : curl_off_t{-1});
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, this);
  } else if (request_.body) {
    // libcurl sends a short one together with the header: one packet, and one wake-up of the
    // server.
    const std::string& bytes = request_.body->bytes;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(bytes.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, bytes.data());
  }
  if (use() == HandleUse::kPost) return;  // the method is POST with a body
  if (method_ == "HEAD")
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method_.c_str());
}

void Transfer::set_credentials() {
  CURL* const easy = handle_->easy;
  switch (credentials_.kind) {
    case Credentials::Kind::kNone: return;
    case Credentials::Kind::kBasic:
      curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      curl_easy_setopt(easy, CURLOPT_USERNAME, credentials_.user.c_str());
      curl_easy_setopt(easy, CURLOPT_PASSWORD, credentials_.secret.c_str());
      return;
    case Credentials::Kind::kBearer:
      curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
      curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, credentials_.secret.c_str());
      return;
  }
  KIN_UNREACHABLE();
}

std::size_t Transfer::refuse(Error error) {
  refusal_ = std::move(error);
  return 0;
}

bool Transfer::about_to_send() {
  // libcurl sends a request again by itself if a kept connection turns out to be closed; but the
  // server may have acted on it.
  if (sending_) {
    refuse({Code::kUnavailable, "the server closed the connection without an answer"});
    return false;
  }
  sending_ = true;
  sent_ = true;
  return true;
}

std::size_t Transfer::give_body(std::span<char> into) {
  const HttpBody& body = *request_.body;
  const auto size = body.source(into);
  if (!size) {
    refuse(size.error());
    return CURL_READFUNC_ABORT;
  }
  given_bytes_ += *size;
  if (*size == 0 && body.length && given_bytes_ < *body.length) {
    refuse({Code::kInvalidArgument, fmt::format("the body of the request ends after {} of {} bytes",
                                                given_bytes_, *body.length)});
    return CURL_READFUNC_ABORT;
  }
  return *size;
}

std::size_t Transfer::take_header(std::string_view line) {
  refusal_.reset();  // of another address of the host than the one that answers
  header_bytes_ += line.size();
  if (header_bytes_ > kMostHeaderBytes)
    return refuse(
        {Code::kResourceExhausted,
         fmt::format("the header of the answer is longer than {}", bytes_text(kMostHeaderBytes))});
  // A status line starts over: what came before was an interim answer (100, 103).
  if (line.starts_with("HTTP/")) response_.headers.clear();
  auto header = parse_header_line(line);
  if (header) response_.headers.push_back(std::move(*header));
  return line.size();
}

std::size_t Transfer::take_body(std::string_view bytes) {
  body_bytes_ += bytes.size();
  if (body_bytes_ > most_bytes())
    return refuse({Code::kResourceExhausted,
                   fmt::format("the answer is longer than {}", bytes_text(most_bytes()))});
  curl_off_t received = 0;
  curl_easy_getinfo(handle_->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
  // Bytes that libcurl has read but not yet counted fit into its buffer.
  const std::uint64_t wire = static_cast<std::uint64_t>(received) + kReadBuffer;
  if (body_bytes_ > kRatioCountsAbove && body_bytes_ / wire > budgets_.ratio)
    return refuse(
        {Code::kResourceExhausted,
         fmt::format("the answer unpacks to more than {} times its size", budgets_.ratio)});
  // Nobody reads the text of a redirect.
  if (is_redirect()) return bytes.size();
  // The text of an error goes to the response, not into the file of the caller.
  if (request_.sink && status() / 100 == 2) {
    response_.stopped = !request_.sink(bytes);
    return response_.stopped ? 0 : bytes.size();
  }
  response_.body.append(bytes);
  return bytes.size();
}

int Transfer::open_socket(const void* address) {
  const auto& wanted = *static_cast<const curl_sockaddr*>(address);
  // Checked here, when the name is resolved: any name may stand for a private address.
  const auto ip = IpAddress::from(wanted.addr);
  if (!ip || !options_.addresses.permits(*ip)) {
    const std::string what = ip ? fmt::format("{} is {}", ip->text(), name_of(classify(*ip)))
                                : std::string("its address family is unknown");
    refuse({Code::kFailedPrecondition,
            fmt::format("{} must not be connected to: {}", url_->host(), what)});
    return -1;
  }
  refusal_.reset();
  return sockets_.open(wanted.family, wanted.socktype, wanted.protocol);
}

int Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(handle_->easy, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

bool Transfer::is_redirect() const {
  // A body cannot be read twice, and a signature holds for one address.
  if (request_.body || request_.signer || (method_ != "GET" && method_ != "HEAD")) return false;
  const int code = status();
  const bool redirects = code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
  return redirects && !response_.header("location").empty();
}

Status Transfer::follow(std::string_view location) {
  if (++hops_ > budgets_.redirects)
    return Error{Code::kFailedPrecondition,
                 fmt::format("more than {} redirects", budgets_.redirects)};
  KIN_TRY(const Url next, url_->resolve(location));
  const bool with_credentials =
      credentials_.kind != Credentials::Kind::kNone ||
      std::any_of(request_.headers.begin(), request_.headers.end(),
                  [](const Header& h) { return is_private_field(h.name); });
  if (url_->secure() && !next.secure() && with_credentials)
    return Error{Code::kFailedPrecondition,
                 fmt::format("it redirects from https to {}, which is not safe with credentials",
                             next.origin())};
  all_permanent_ = all_permanent_ && (response_.status == 301 || response_.status == 308);
  url_ = next;
  if (all_permanent_) response_.moved_to = next.request_text();
  return check_port();
}

std::optional<Result<HttpResponse>> Transfer::finish(int code) {
  curl_off_t received = 0;
  curl_easy_getinfo(handle_->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
  response_.status = status();
  response_.wire_bytes = static_cast<std::uint64_t>(received);
  if (response_.stopped) return std::move(response_);
  if (code != CURLE_OK) return with_context(response_.url, failure(code));
  done_ = true;
  if (!is_redirect()) return std::move(response_);
  const std::string from = response_.url;
  const std::string location(response_.header("location"));
  const Status followed = follow(location);
  if (!followed.ok()) return with_context(from, followed.error());
  return std::nullopt;
}

Error Transfer::failure(int code) const {
  if (refusal_) return *refusal_;
  const std::string detail = handle_->message;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::kUnavailable, fmt::format("no address found for the host {}", url_->host())};
    case CURLE_COULDNT_CONNECT:
      return {Code::kUnavailable,
              fmt::format("{} does not accept connections on port {}", url_->host(), url_->port())};
    case CURLE_OPERATION_TIMEDOUT: {
      // libcurl has a clock of its own, and its limit may come a little early.
      const bool over = options_.clock->steady_now() >= deadline() - std::chrono::milliseconds(50);
      return {Code::kUnavailable,
              over ? fmt::format("no complete answer within {} s",
                                 std::chrono::duration<double>(deadline() - *started_).count())
                   : fmt::format("the server is too slow ({})", detail)};
    }
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::kFailedPrecondition,
              fmt::format("the server's certificate is not trusted ({})", detail)};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::kUnavailable, fmt::format("no secure connection can be made ({})", detail)};
    case CURLE_FILESIZE_EXCEEDED:
      return {Code::kResourceExhausted,
              fmt::format("the answer is longer than {}", bytes_text(most_bytes()))};
    case CURLE_BAD_CONTENT_ENCODING:
      return {Code::kDataLoss, fmt::format("the answer cannot be unpacked ({})", detail)};
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_FAIL_REWIND:  // a kept connection was closed; see about_to_send()
      return {Code::kUnavailable,
              fmt::format("the server closed the connection before its answer was complete ({})",
                          detail)};
    default:
      return {Code::kUnavailable,
              detail.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : detail};
  }
}

}  // namespace kin::net
