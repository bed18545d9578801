#pragma once
// Named by torch's ProcessGroupGloo.hpp; see gloo/context.h.
