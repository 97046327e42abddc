// The codes of errors as words, for logs and metrics.
#pragma once

#include <string_view>

#include "base/result.h"

namespace kin {

// "unavailable".
constexpr std::string_view code_name(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kNotFound: return "not found";
    case Code::kFailedPrecondition: return "failed precondition";
    case Code::kResourceExhausted: return "resource exhausted";
    case Code::kDataLoss: return "data loss";
    case Code::kUnavailable: return "unavailable";
    case Code::kCancelled: return "cancelled";
    case Code::kInternal: return "internal";
  }
  return "";
}

}  // namespace kin
