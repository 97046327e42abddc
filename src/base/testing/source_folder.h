// Where tests find files of the repository.
#pragma once

namespace kin {

// The root of the checkout that the tests were built from. Only one file of the build knows it, so
// that compiled tests can be shared between checkouts by a compiler cache.
const char* source_folder();

}  // namespace kin
