// International host names, as DNS knows them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::text {

// The ASCII form of a host name in UTF-8, in lower case: "Bücher.example" is
// "xn--bcher-kva.example". By UTS #46 without transitional processing ("faß.example" is not
// "fass.example"); full-width dots and letters count as plain ones. A name that is ASCII already is
// only lowered. kInvalidArgument if the name is not valid, is too long for DNS, or contains
// characters that are not letters, digits, '-', '_' or '.' in the end. Thread-safe.
Result<std::string> host_name_to_ascii(std::string_view name);

}  // namespace kin::text
