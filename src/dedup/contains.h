// References, and the search for them in texts.
#pragma once

#include "dedup/options.h"
#include "dedup/scan/contains.h"
