#pragma once

namespace tutti {

/// The recipe of the defaults, with what `change` sets in it.
template <class Recipe, class Change>
Recipe recipe_with(Change&& change) {
  Recipe recipe;
  change(recipe);
  return recipe;
}

}  // namespace tutti
