// Result<T>: a value, or the Error that says why there is none.
//
//   Result<File> file = File::open(path);
//   if (!file) return file.error();
//   use(*file);
//
// or, shorter:  KIN_TRY(File file, File::open(path));
//
// Absence is not an error: a look-up that may find nothing returns Result<std::optional<T>>.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace kin {

// A subset of gRPC's status codes, so that each can be sent over a wire.
enum class Code {
  kInvalidArgument,     // the request is not valid
  kNotFound,            // a file, column or document that was named does not exist
  kFailedPrecondition,  // right request, wrong state: an output that exists, a set that is locked
  kResourceExhausted,   // disk full, memory budget too small
  kDataLoss,            // a checksum or a format does not hold
  kUnavailable,         // an I/O error or a remote that does not answer
  kCancelled,           // stopped on request
  kInternal,            // a library failed in a way that its contract does not allow
};

// The reason of a failure. `message` names the thing that failed and says what to do.
struct Error {
  Code code;
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *checked(); }
  const T& value() const& { return *checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return checked(); }
  const T* operator->() const { return checked(); }

  const Error& error() const {
    KIN_CHECK(!ok(), "error() of a result that holds a value");
    return std::get<1>(state_);
  }

 private:
  T* checked() {
    KIN_CHECK(ok(), "value of a result that holds an error");
    return &std::get<0>(state_);
  }
  const T* checked() const { return const_cast<Result*>(this)->checked(); }

  std::variant<T, Error> state_;
};

// The value of an operation that returns nothing.
struct Done {};
using Status = Result<Done>;

// `message`, with `prefix` and ": " in front: how an error gains context on its way up.
inline Error with_context(std::string_view prefix, Error error) {
  error.message.insert(0, ": ").insert(0, prefix);
  return error;
}

}  // namespace kin

#define KIN_CONCAT_INNER(a, b) a##b
#define KIN_CONCAT(a, b) KIN_CONCAT_INNER(a, b)

// KIN_TRY(declaration, expression): the value, or return the error to the caller.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot be parenthesised
#define KIN_TRY(declaration, expression) \
  KIN_TRY_INNER(KIN_CONCAT(kin_try_, __LINE__), declaration, expression)
#define KIN_TRY_INNER(result, declaration, expression) \
  auto result = (expression);                          \
  if (!result.ok()) return result.error();             \
  declaration = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)

// KIN_RETURN_IF_ERROR(expression): for a Status.
#define KIN_RETURN_IF_ERROR(expression) \
  KIN_RETURN_IF_ERROR_INNER(KIN_CONCAT(kin_status_, __LINE__), expression)
#define KIN_RETURN_IF_ERROR_INNER(status, expression)                    \
  do {                                                                   \
    if (auto status = (expression); !status.ok()) return status.error(); \
  } while (false)
