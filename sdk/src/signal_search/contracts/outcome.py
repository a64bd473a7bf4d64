"""The results of all kinds of jobs as one type, and how their bytes are told apart."""

from signal_search.contracts.result import Result

AnyResult = Result
