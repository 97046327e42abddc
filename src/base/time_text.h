// Times as people and other programs read them.
#pragma once

#include <string>

#include "base/clock.h"

namespace kin {

// "2026-03-01T12:30:05.250Z": sorts as the times do. Thread-safe.
std::string iso_time(WallTime at);

}  // namespace kin
