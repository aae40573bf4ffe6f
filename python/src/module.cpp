/// The module tangere._core.

#include <typeinfo>

#include <nanobind/eval.h>

#include "python/src/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/version.hpp"

namespace {

constexpr const char* kInputError = R"(
class InputError(ValueError):
    """Wrong input: `field` names the quantity, `reason` says what is wrong with it, with the value and what is allowed."""

    __module__ = "tangere"

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def __reduce__(self):
        return InputError, (self.field, self.reason)
)";

}  // namespace

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace tangere::python;  // NOLINT(google-build-using-namespace): all of it is bound here
  // functions of Python's in a problem of trajectory optimisation may refer to it, which only the end resolves
  nb::set_leak_warnings(false);
  m.doc() = "Tangere: differentiable contact.";
  m.attr("__version__") = nb::str(std::string(tangere::kVersion).c_str());

  // InputError(field, reason): a ValueError that also says what was wrong
  nb::dict scope;
  nb::exec(nb::str(kInputError), scope);
  static nb::object input_error = scope["InputError"];
  m.attr("InputError") = input_error;
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const tangere::InputError& error) {
          const nb::handle error_type(static_cast<PyObject*>(type));
          try {
            const nb::object value = error_type(error.field(), error.reason());
            PyErr_SetObject(error_type.ptr(), value.ptr());
          } catch (nb::python_error& failure) {
            failure.restore();
          }
        }
      },
      input_error.ptr());

  // a nested argument of another type, deep inside a list or a saved state
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "an argument holds something of another type than this function takes");
    }
  });

  bind_geometry(m);
  bind_proximity(m);
  bind_multibody(m);
  bind_world(m);
  bind_step(m);
  bind_batch(m);
  bind_pair_batch(m);
  bind_states(m);
  bind_broad_phase(m);
  bind_io(m);
  bind_trajopt(m);
#ifdef TANGERE_WITH_XLA
  bind_xla(m);
#endif
  bind_experiments(m);
}
