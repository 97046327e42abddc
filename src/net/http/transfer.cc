#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "net/http/transfer.h"

#include "base/ascii.h"

namespace kin::net {
namespace {

constexpr std::size_t kMostHeaderBytes = std::size_t{128} << 10;
constexpr std::uint64_t kRatioCountsAbove = std::uint64_t{1} << 20;
constexpr long kReadBuffer = 16 << 10;

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->take_header({bytes, size * count});
}
std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->take_body({bytes, size * count});
}
curl_socket_t on_open_socket(void* transfer, curlsocktype, curl_sockaddr* address) {
  return static_cast<Transfer*>(transfer)->open_socket(address);
}

// Fields of the caller's that name him; they stay at the origin, as credentials do.
bool is_private_field(std::string_view name) {
  constexpr std::string_view kPrivate[] = {"authorization", "cookie", "proxy-authorization"};
  const std::string lower = ascii_lowered(name);
  return std::find(std::begin(kPrivate), std::end(kPrivate), lower) != std::end(kPrivate);
}

bool breaks_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? fmt::format("{} KiB", bytes >> 10)
                                                    : fmt::format("{} bytes", bytes);
}

}  // namespace

struct Transfer::Handle {
  CURL* easy = curl_easy_init();
  curl_slist* headers = nullptr;
  char message[CURL_ERROR_SIZE] = {};
  std::string user;
  std::string bearer;

  ~Handle() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
  }
};

Transfer::Transfer(const HttpRequest& request, const HttpOptions& options)
    : request_(request), options_(options), credentials_(request.credentials) {}

Transfer::~Transfer() = default;

Status Transfer::prepare() {
  KIN_TRY(url_, Url::parse(request_.url));
  if (credentials_.kind == Credentials::Kind::kNone) credentials_ = credentials_in(*url_);
  origin_ = url_->origin();
  for (const Header& header : request_.headers) {
    if (breaks_line(header.name) || breaks_line(header.value))
      return Error{Code::kInvalidArgument, "a header field of the request has a line end in it"};
  }
  if (request_.body && breaks_line(request_.body->type))
    return Error{Code::kInvalidArgument, "the content type has a line end in it"};
  if (breaks_line(credentials_.secret) || breaks_line(credentials_.user))
    return Error{Code::kInvalidArgument, "the credentials have a line end in them"};
  return check_address();
}

Status Transfer::check_address() const {
  if (is_refused_port(url_->port()))
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: port {} belongs to another service than the web", url_->origin(),
                             url_->port())};
  return Done{};
}

std::uint64_t Transfer::most_bytes() const {
  const std::uint64_t most = options_.budgets.bytes;
  return request_.most_bytes == 0 ? most : std::min(most, request_.most_bytes);
}

std::chrono::milliseconds Transfer::time_left() const {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

void* Transfer::start() {
  if (!deadline_) deadline_ = Clock::now() + options_.budgets.total;
  handle_ = std::make_unique<Handle>();
  header_bytes_ = 0;
  refusal_.reset();
  const auto moved = std::move(response_.moved_to);
  response_ = {};
  response_.moved_to = moved;
  response_.url = url_->request_text();
  set_options();
  set_headers();
  if (request_.body) set_body(*request_.body);
  if (url_->origin() == origin_) set_credentials();
  return handle_->easy;
}

void Transfer::set_options() {
  CURL* const easy = handle_->easy;
  const HttpBudgets& budgets = options_.budgets;
  curl_easy_setopt(easy, CURLOPT_URL, response_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options_.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kReadBuffer);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min(budgets.connect, time_left()).count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(time_left().count()));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(budgets.slowest));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(budgets.slowest_for.count()));
  curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(most_bytes()));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, handle_->message);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  if (!options_.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
}

void Transfer::set_headers() {
  for (const Header& header : request_.headers) {
    if (url_->origin() != origin_ && is_private_field(header.name)) continue;
    const std::string line = fmt::format("{}: {}", header.name, header.value);
    handle_->headers = curl_slist_append(handle_->headers, line.c_str());
  }
  if (request_.body) {
    const std::string type = fmt::format("Content-Type: {}", request_.body->type);
    handle_->headers = curl_slist_append(handle_->headers, type.c_str());
    // Waiting for a server to say "continue" costs a second with those that do not.
    handle_->headers = curl_slist_append(handle_->headers, "Expect:");
  }
  curl_easy_setopt(handle_->easy, CURLOPT_HTTPHEADER, handle_->headers);
}

void Transfer::set_body(const HttpBody& body) {
  curl_easy_setopt(handle_->easy, CURLOPT_POST, 1L);
  curl_easy_setopt(handle_->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(body.bytes.size()));
  curl_easy_setopt(handle_->easy, CURLOPT_POSTFIELDS, body.bytes.data());
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

std::size_t Transfer::take_header(std::string_view line) {
  refusal_.reset();  // of another address of the host than the one that answers
  header_bytes_ += line.size();
  if (header_bytes_ > kMostHeaderBytes) {
    refusal_ = Error{
        Code::kResourceExhausted,
        fmt::format("the header of the answer is longer than {}", bytes_text(kMostHeaderBytes))};
    return 0;
  }
  // A status line starts over: what came before was an interim answer (100, 103).
  if (line.starts_with("HTTP/")) response_.headers.clear();
  auto header = parse_header_line(line);
  if (header) response_.headers.push_back(std::move(*header));
  return line.size();
}

std::size_t Transfer::take_body(std::string_view bytes) {
  const std::uint64_t size = response_.body.size() + bytes.size();
  if (size > most_bytes()) {
    refusal_ = Error{Code::kResourceExhausted,
                     fmt::format("the answer is longer than {}", bytes_text(most_bytes()))};
    return 0;
  }
  curl_off_t sent = 0;
  curl_easy_getinfo(handle_->easy, CURLINFO_SIZE_DOWNLOAD_T, &sent);
  // What libcurl has read and not counted yet is no more than its buffer.
  const std::uint64_t wire = static_cast<std::uint64_t>(sent) + kReadBuffer;
  if (size > kRatioCountsAbove && size / wire > options_.budgets.ratio) {
    refusal_ = Error{
        Code::kResourceExhausted,
        fmt::format("the answer unpacks to more than {} times its size", options_.budgets.ratio)};
    return 0;
  }
  if (!is_redirect()) response_.body.append(bytes);
  return bytes.size();
}

int Transfer::open_socket(const void* address) {
  const auto& wanted = *static_cast<const curl_sockaddr*>(address);
  const auto ip = IpAddress::from(wanted.addr);
  if (!ip || !options_.addresses.permits(*ip)) {
    const std::string what = ip ? fmt::format("{} is {}", ip->text(), name_of(classify(*ip)))
                                : std::string("it is on no network we know");
    refusal_ = Error{Code::kFailedPrecondition,
                     fmt::format("{} must not be connected to: {}", url_->host(), what)};
    return -1;
  }
  refusal_.reset();
  return ::socket(wanted.family, wanted.socktype | SOCK_CLOEXEC, wanted.protocol);
}

bool Transfer::is_redirect() const {
  if (request_.body) return false;
  long status = 0;
  curl_easy_getinfo(handle_->easy, CURLINFO_RESPONSE_CODE, &status);
  const bool redirects =
      status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
  return redirects && !response_.header("location").empty();
}

Status Transfer::follow(std::string_view location) {
  if (++hops_ > options_.budgets.redirects)
    return Error{Code::kFailedPrecondition,
                 fmt::format("more than {} redirects", options_.budgets.redirects)};
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
  return check_address();
}

std::optional<Result<HttpResponse>> Transfer::finish(int code) {
  long status = 0;
  curl_off_t sent = 0;
  curl_easy_getinfo(handle_->easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle_->easy, CURLINFO_SIZE_DOWNLOAD_T, &sent);
  response_.status = static_cast<int>(status);
  response_.wire_bytes = static_cast<std::uint64_t>(sent);
  if (code != CURLE_OK) return with_context(response_.url, failure(code));
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
      return {Code::kUnavailable,
              fmt::format("there is no host called {} (or the name service does not answer)",
                          url_->host())};
    case CURLE_COULDNT_CONNECT:
      return {Code::kUnavailable,
              fmt::format("{} does not accept connections on port {}", url_->host(), url_->port())};
    case CURLE_OPERATION_TIMEDOUT: {
      const bool over = Clock::now() >= *deadline_ - std::chrono::milliseconds(50);
      return {Code::kUnavailable,
              over ? fmt::format("no whole answer within {} s",
                                 static_cast<double>(options_.budgets.total.count()) / 1000)
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
      return {
          Code::kUnavailable,
          fmt::format("the server closed the connection before its answer was whole ({})", detail)};
    default:
      return {Code::kUnavailable,
              detail.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : detail};
  }
}

}  // namespace kin::net
