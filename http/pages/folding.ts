// How the service compares texts when it looks for something, so that what the pages find by themselves is found by the
// same rule.

export { distinctNames, folded, nameKey } from '../../store/folding.ts';
