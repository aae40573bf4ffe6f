/// The module tangere._core.

#include <typeinfo>

#include "python/src/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/version.hpp"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace tangere::python;  // NOLINT(google-build-using-namespace): all of it is bound here
  // functions of Python's in a problem of trajectory optimisation may refer to it, which only the end resolves
  nb::set_leak_warnings(false);
  m.doc() = "Tangere: differentiable contact.";
  m.attr("__version__") = nb::str(std::string(tangere::kVersion).c_str());

  // a ValueError that also says what was wrong
  static nb::object input_error = nb::module_::import_("tangere._error").attr("InputError");
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
