#include "base/testing/source_folder.h"

namespace kin {

const char* source_folder() {
  return KIN_SOURCE_DIR;
}

}  // namespace kin
