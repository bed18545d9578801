#pragma once

namespace tutti {

/// Whether this processor runs what the *_avx512.cpp and *_avx2.cpp files were compiled to. Without AVX2 (2013) every
/// operator is torch's.
bool has_avx512();
bool has_avx2();

}  // namespace tutti
