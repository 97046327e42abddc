#include "rpc/request_id.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace kin::rpc {
namespace {

constexpr std::size_t kLongest = 64;

thread_local std::string current;

}  // namespace

RequestScope::RequestScope(std::string id) : before_(std::exchange(current, std::move(id))) {}

RequestScope::~RequestScope() {
  current = std::move(before_);
}

const std::string& current_request_id() {
  return current;
}

bool is_request_id(std::string_view id) {
  return !id.empty() && id.size() <= kLongest && std::ranges::all_of(id, [](char c) {
    return is_ascii_alpha(c) || is_ascii_digit(c) || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace kin::rpc
