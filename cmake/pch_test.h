// The standard headers and the test framework, which every test file includes.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pch.h"
