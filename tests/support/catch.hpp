// SPDX-License-Identifier: MIT
/// Catch2, of either major version. Tests use what both have: TEST_CASE, SECTION, REQUIRE, CHECK, CHECK_THROWS_AS, CAPTURE, GENERATE.
#pragma once

#if TORUS_CATCH2_MAJOR >= 3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
