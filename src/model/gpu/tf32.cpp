#include "model/gpu/tf32.h"

#include <ATen/Context.h>

namespace tutti {
namespace {

void set(bool products, bool convolutions) {
  at::globalContext().setAllowTF32CuBLAS(products);
  at::globalContext().setAllowTF32CuDNN(convolutions);
}

}  // namespace

void set_tf32(bool rounds) {
  set(rounds, rounds);
}

Tf32Scope::Tf32Scope(bool rounds)
    : products_(at::globalContext().allowTF32CuBLAS()), convolutions_(at::globalContext().allowTF32CuDNN()) {
  set_tf32(rounds);
}

Tf32Scope::~Tf32Scope() {
  set(products_, convolutions_);
}

}  // namespace tutti
