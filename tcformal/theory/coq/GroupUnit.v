(** From the cut points of a circuit to the words of a design of one block whose terms are scaled sums of groups of products, and c:
    one of [Design.v], or of [Wide.v], whose groups count as zeros otherwise, and whose sum is cut again. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals Permutation FMapPositive.
From TC Require Import Unit Spec Theorems Design Designs Wide Rounded Bv Circuit Finish Fused Leaves Stage Frames Window TermSums StickyUnit.
Import ListNotations.
Open Scope Z_scope.

(** * One sum of both specifications *)

(** The exponent with which a term takes part; [alive]: one that is zero keeps its own. *)
Definition entering_with (z : Z) (alive : bool) (x : num) : Z := if is_zero x && negb alive then z else exp x.

(** The sum of terms with [f] fraction bits, of which the lowest [dr] are rounded down. *)
Definition sum_of_terms (f dr z : Z) (k : conversion) (l : list (mode * (num * bool))) : val :=
  match omax_list (map (fun t => Some (entering_with z (snd (snd t)) (fst (snd t)))) l) with
  | Some e => convert k false (zsum (map (fun t => cut (fst t) (e - f) (fst (snd t))) l) / 2 ^ dr * 2 ^ dr) (e - f)
  | None => NaN
  end.

Lemma cut_of_value m u x y : V x = V y -> cut m u x = cut m u y.
Proof. intros H. apply eq_IZR. apply Rmult_eq_reg_r with (bp u). 2: apply Rgt_not_eq, Flocq.Core.Raux.bpow_gt_0. now rewrite !cut_ok, H. Qed.

Lemma unsigned_conversion k s t n u : zsign k = Positive -> convert k s n u = convert k t n u.
Proof. intros Z0. unfold convert. now rewrite Z0. Qed.

Lemma dropped_conversion k s n u dr : zsign k = Positive -> 0 <= dr -> convert k s (round_div RD n dr) (u + dr) = convert k false (n / 2 ^ dr * 2 ^ dr) u.
Proof.
  intros Z0 D. rewrite (unsigned_conversion k s false) by exact Z0.
  assert (E : round_div RD n dr = n / 2 ^ dr).
  { rewrite round_div_unfold. destruct (Z.leb_spec dr 0) as [L|L]; [assert (dr = 0) by lia; subst dr; rewrite Z.div_1_r; apply Z.mul_1_r|]. now destruct (_ =? 0). }
  rewrite E. apply convert_ext; auto. rewrite mult_IZR, <- (bp_Z dr D), Rmult_assoc, <- Flocq.Core.Raux.bpow_plus. do 2 f_equal. lia.
Qed.

Lemma term_div_exact h n : term_div h n 0 = n.
Proof. destruct h; cbn [term_div]; unfold round_div; cbn [Z.leb Z.compare Z.opp Z.ltb]; apply Z.shiftl_0_r. Qed.

(** What [Wide.v] needs: the modes of terms and of c, F, and how many low bits are dropped. *)
Definition wide_drop (s : wide_sum) (f : Z) : Z := match cut_sum s with Some g => f - g | None => 0 end.
Definition wide_plain (s : wide_sum) (tm cm : mode) (f z : Z) (k : conversion) : Prop :=
  term_bits s = Some f /\ term_cut s = By tm /\ c_term_cut s = By cm /\ c_term_bits s = None /\ second_bits s = None /\ zeros_at s = ZeroAt z /\ leading s = false /\
  c_decides s = true /\ Wide.room s = None /\ minus_one s = None /\ becomes s = Rounds (Floating k).

Lemma wide_terms_sum s tm cm f z k l : wide_plain s tm cm f z k -> zsign k = Positive -> 0 <= wide_drop s f -> l <> [] ->
  Wide.its (Wide.ended s l) = sum_of_terms f (wide_drop s f) z k (map (fun a => (if is_c a then cm else tm, (Wide.number a, counts_at_zero a))) l).
Proof.
  intros [B [TC [CC [CB [SB [ZA [LD [CD [RM [MO BE]]]]]]]]]] ZS DR NE. unfold Wide.ended, Wide.summed, sum_of_terms. rewrite B.
  assert (LG : largest_in s l = omax_list (map (fun t => Some (entering_with z (snd (snd t)) (fst (snd t)))) (map (fun a => (if is_c a then cm else tm, (Wide.number a, counts_at_zero a))) l))).
  { unfold largest_in. assert (F : filter (fun a => c_decides s || negb (is_c a)) l = l) by (rewrite CD; clear; induction l as [|a l IH]; cbn [filter orb]; [reflexivity|]; f_equal; exact IH).
    rewrite F. rewrite map_map. unfold omax_list. destruct l as [|a l]; [easy|]. f_equal. apply map_ext. intros x. unfold exponent_in, entering_with. rewrite LD, ZA. cbn [fst snd].
    destruct (is_zero (Wide.number x)), (counts_at_zero x); reflexivity. }
  rewrite LG. set (o := omax_list _). destruct o as [e|] eqn:O.
  2: { exfalso. destruct l as [|a l]; [easy|]. unfold o, omax_list in O. cbn [map fold_right] in O. destruct (fold_right omax None _); discriminate O. }
  unfold Wide.unit_bits. rewrite SB, CB, RM, MO, BE.
  assert (CT : map (cut_term s e f f) l = map (fun t => cut (fst t) (e - f) (fst (snd t))) (map (fun a => (if is_c a then cm else tm, (Wide.number a, counts_at_zero a))) l)).
  { rewrite map_map. apply map_ext. intros x. unfold cut_term. rewrite CB, CC, TC. cbn [fst snd]. destruct (is_c x); rewrite Z.sub_diag, term_div_exact; reflexivity. }
  rewrite CT. set (n := zsum _). unfold wide_drop in *. destruct (cut_sum s) as [g|] eqn:CU; cbn [plain Wide.its round_to].
  - replace (e - g) with (e - f + (f - g)) by lia. now apply dropped_conversion.
  - rewrite Z.pow_0_r, Z.div_1_r, Z.mul_1_r. now apply unsigned_conversion.
Qed.

(** A sum of [Design.v] in whose largest exponent those of zeros take part, if a term is at least as large as a zero. *)
Lemma narrow_terms_sum s f z (l : list (num * bool)) : fraction_bits s = Some f -> zero_exponent s = ZeroAt z -> normalise s = false -> carry_bits s = None -> zsign (out s) = Positive ->
  (exists t, In t l /\ z <= entering_with z (snd t) (fst t)) ->
  add_from (omax_list (map (fun t => if is_zero (fst t) && snd t then Some (exp (fst t)) else None) l)) (Stage s) (map (fun t => Num (fst t)) l) =
  sum_of_terms f 0 z (out s) (map (fun t => (alignment s, t)) l).
Proof.
  intros FB ZE NM CB ZS [t0 [I0 L0]]. set (o := omax_list (map (fun t => if is_zero (fst t) && snd t then Some (exp (fst t)) else None) l)).
  set (ts := map fst l). assert (NU : map (fun t => Num (fst t)) l = map Num ts) by (unfold ts; now rewrite map_map).
  assert (NS : numbers (map Num ts) = Some ts).
  { unfold numbers. replace (forallb is_num (map Num ts)) with true. { rewrite map_map. f_equal. apply map_id. } symmetry. apply forallb_forall. intros v I. apply in_map_iff in I. now destruct I as [x [<- _]]. }
  set (es := map (fun t => Some (entering_with z (snd t) (fst t))) l).
  assert (EX : exists e, omax_list es = Some e /\ (forall t, In t l -> entering_with z (snd t) (fst t) <= e) /\ (exists t, In t l /\ entering_with z (snd t) (fst t) = e)).
  { unfold es, omax_list. clear -I0. revert I0. generalize t0. induction l as [|t l IH]; intros q I; [easy|]. cbn [map fold_right]. destruct l as [|u l].
    - exists (entering_with z (snd t) (fst t)). repeat split; auto. intros x [<-|[]]; lia. exists t. split; [now left|auto].
    - destruct (IH u (or_introl eq_refl)) as [e [E [A [y [Y YE]]]]]. rewrite E. cbn [omax]. exists (Z.max (entering_with z (snd t) (fst t)) e). split; auto. split.
      + intros x [<-|X]; [lia|]. specialize (A x X). lia.
      + destruct (Z.max_spec (entering_with z (snd t) (fst t)) e) as [[_ ->]|[_ ->]]; [exists y; split; [now right|auto]|exists t; split; [now left|auto]]. }
  destruct EX as [e [E [A [y [Y YE]]]]]. assert (ZL : z <= e) by (specialize (A t0 I0); lia).
  assert (TE : forall t : num * bool, term_exponent s (fst t) = Some (if is_zero (fst t) then z else exp (fst t))) by (intros t; unfold term_exponent; rewrite ZE, NM; now destruct (is_zero _)).
  assert (LO : omax o (largest s ts) = Some e).
  { apply ole_antisym.
    - apply omax_le.
      + unfold o, omax_list. clear -A. assert (G : forall k : list (num * bool), (forall t, In t k -> In t l) -> ole (fold_right omax None (map (fun t => if is_zero (fst t) && snd t then Some (exp (fst t)) else None) k)) (Some e)).
        { induction k as [|t k IH]; intros H; cbn [map fold_right]; [easy|]. apply omax_le; [|apply IH; intros; apply H; now right]. specialize (A t (H t (or_introl eq_refl))). unfold entering_with in A. destruct (is_zero (fst t)), (snd t); cbn [andb negb ole] in *; auto. }
        now apply G.
      + apply largest_le. intros x I. unfold ts in I. apply in_map_iff in I. destruct I as [t [<- I]]. rewrite TE. cbn [ole]. specialize (A t I). unfold entering_with in A. destruct (is_zero (fst t)); cbn [andb] in A; [exact ZL|lia].
    - rewrite <- YE. unfold entering_with. destruct (is_zero (fst y)) eqn:Z0, (snd y) eqn:AL; cbn [andb negb].
      + eapply ole_trans; [|apply ole_max_l]. unfold o, omax_list. clear -Y Z0 AL. induction l as [|t l IH]; [easy|]. cbn [map fold_right]. destruct Y as [->|Y]; [rewrite Z0, AL; cbn [andb]; apply ole_max_l|eapply ole_trans; [now apply IH|apply ole_max_r]].
      + eapply ole_trans; [|apply ole_max_r]. replace (Some z) with (term_exponent s (fst y)) by (rewrite TE, Z0; reflexivity). apply Order.largest_in. unfold ts. now apply in_map.
      + eapply ole_trans; [|apply ole_max_r]. replace (Some (exp (fst y))) with (term_exponent s (fst y)) by (rewrite TE, Z0; reflexivity). apply Order.largest_in. unfold ts. now apply in_map.
      + eapply ole_trans; [|apply ole_max_r]. replace (Some (exp (fst y))) with (term_exponent s (fst y)) by (rewrite TE, Z0; reflexivity). apply Order.largest_in. unfold ts. now apply in_map. }
  assert (SA : add_from o (Stage s) (map Num ts) = sum_at s (Floating (out s)) (e - f) ts).
  { destruct o as [q|] eqn:O.
    - cbn [add_from stage_rounding]. unfold on_numbers. rewrite NS, FB, LO. reflexivity.
    - cbn [add_from add omax] in *. unfold sum_values. rewrite NS. unfold sum_numbers, sum_at, held, total, counts, unit_of. rewrite FB, LO, CB. reflexivity. }
  rewrite NU, SA. unfold sum_of_terms. rewrite map_map. cbn [fst snd]. fold es. rewrite E. unfold sum_at, held. rewrite CB. cbn [round_to]. rewrite Z.pow_0_r, Z.div_1_r, Z.mul_1_r.
  rewrite (unsigned_conversion (out s) _ false) by exact ZS. do 2 f_equal. unfold ts. now rewrite !map_map.
Qed.

(** * The sum of a circuit *)

(** A term of the specification, and one of the circuit, with the exponent with which it takes part. *)
Definition enters_as (v : env) (z : Z) (t : num * bool) (ra : number * Fused.addend) : Prop :=
  V (fst t) = V (num_in v (faced (fst ra) (snd ra))) /\ entering_with z (snd t) (fst t) = exp (num_in v (faced (fst ra) (snd ra))).

Lemma circuit_sum ct g k x v z l : circuit_ok ct = true -> solution ct v -> term_sum_ok (widths_of ct) g k x = true -> Forall (holds ct) (term_claims_of (widths_of ct) g k x) ->
  held_bits g = None -> Forall (fun r => truth (widths_of ct) v (finite r) = true) (summands x) ->
  Forall2 (enters_as v z) l (combine (summands x) (addends (entered x))) ->
  sum_of_terms (unit_bits g) (dropped g) z k (combine (modes g) l) = convert k false (sum_count ct x v) (top_is x v - unit_bits g).
Proof.
  intros CI SOL OK CL RM FIN FR. destruct (fine_terms_are ct g k x v CI SOL OK) as [_ [L1 [L2 NE]] _ _ _ _].
  assert (LL : length l = length (modes g)). { clear -FR L1 L2. rewrite L2. assert (Q : length l = length (combine (summands x) (addends (entered x)))) by (induction FR; simpl; auto). rewrite Q, combine_length. lia. }
  pose proof (top_of_entries ct g k x v CI SOL OK CL FIN) as TE. destruct (sum_count_is ct g k x v CI SOL OK CL FIN) as [SC _]. rewrite RM in SC.
  assert (EC : forall r a md, In (r, a, md) (entries g x) -> cut md (top_is x v - unit_bits g) (num_in v (faced r a)) = count_of v (r, a)) by (intros r a md I; exact (proj1 (entry_cut ct g k x v CI SOL OK CL FIN r a md I))).
  unfold sum_of_terms. 
  assert (E1 : map (fun t : mode * (num * bool) => Some (entering_with z (snd (snd t)) (fst (snd t)))) (combine (modes g) l) =
    map (fun e => Some (exp (num_in v (faced (fst (fst e)) (snd (fst e)))))) (entries g x)).
  { unfold entries. clear -FR LL. revert FR LL. generalize (combine (summands x) (addends (entered x))). generalize (modes g). induction l as [|t l IH]; intros q c FR LL; inversion FR as [|? ra ? c' [_ H] FR']; subst; destruct q; try easy.
    cbn [combine map fst snd]. rewrite H. f_equal. apply IH; auto. }
  rewrite E1. unfold omax_list. rewrite TE.
  assert (E2 : map (fun t : mode * (num * bool) => cut (fst t) (top_is x v - unit_bits g) (fst (snd t))) (combine (modes g) l) = map (count_of v) (pairs_of x)).
  { unfold pairs_of. unfold entries in EC. clear -FR LL EC. revert FR LL EC. generalize (combine (summands x) (addends (entered x))). generalize (modes g). induction l as [|t l IH]; intros q c FR LL EC; inversion FR as [|? ra ? c' [H _] FR']; subst; destruct q as [|md q]; try easy.
    cbn [combine map fst snd]. f_equal.
    - destruct ra as [r a]. rewrite <- (EC r a md (or_introl eq_refl)). now apply cut_of_value.
    - apply (IH q c'); auto. intros. apply EC. now right. }
  rewrite E2. fold (whole_count x v). now rewrite SC.
Qed.

(** * Numbers that are alike but for the sign of a zero *)

Definition alike_val (v w : val) : Prop :=
  match v, w with Num x, Num y => V x = V y /\ exp x = exp y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma alike_is_zero x y : V x = V y -> is_zero x = is_zero y.
Proof.
  intros H. destruct (is_zero x) eqn:X, (is_zero y) eqn:Y; auto; exfalso.
  - rewrite (V_zero x X) in H. symmetry in H. apply V_nothing in H. congruence.
  - rewrite (V_zero y Y) in H. apply V_nothing in H. congruence.
Qed.

Lemma product_alike v w s : alike_val v w -> (forall t, s <> Inf t) -> (forall t, v <> Inf t) -> alike_val (product v s) (product w s).
Proof.
  intros H NS NV. destruct v as [x|a|], w as [y|b|], s as [t|c|]; cbn [alike_val product] in *; try easy; try (now destruct (NS c)); try (now destruct (NV a)).
  destruct H as [A B]. rewrite !V_times, A. split; auto. unfold times; cbn [exp]. lia.
Qed.
Lemma not_infinite v s : (forall t, s <> Inf t) -> (forall t, v <> Inf t) -> forall t, product v s <> Inf t.
Proof. intros NS NV t. destruct v as [x|a|], s as [y|b|]; cbn [product]; try easy; try (now destruct (NS b)); now destruct (NV a). Qed.

Lemma alike_numbers vs ws : Forall2 alike_val vs ws -> forallb is_num vs = forallb is_num ws /\ special_sum vs = special_sum ws.
Proof.
  intros F. assert (Y : forall q : val -> bool, (forall x y, q (Num x) = q (Num y)) -> existsb q vs = existsb q ws).
  { intros q Hq. clear -F Hq. induction F as [|a b l k H F IH]; simpl; auto. rewrite IH. f_equal. destruct a, b; simpl in H; try contradiction; auto. now subst. }
  split; [clear -F; induction F as [|a b l k H F IH]; auto; cbn; rewrite IH; now destruct a, b|].
  unfold special_sum. rewrite !Y by reflexivity. reflexivity.
Qed.

(** * Groups *)

Definition shown_num (m : widths) (v : env) (y : shown) : num :=
  {| neg := truth m v (s_neg y); sig := value m v (s_sig y); exp := value m v (s_exp y); frac := s_frac y |}.

(** The sum of a group in units of 2^[units_low]: its terms, none larger than [leaf_bound], the order in which they are added;
    its magnitude, the significands of the scales, and the number that the scaled sum is. *)
Record group_plan := GroupPlan {
  units_low : Z; leaf_bound : Z; group_tree : sum_tree;
  size_node : positive; scale_sigs : positive * positive; group_number : number
}.

Section Group.
Variables (a_is b_is : positive -> shown) (sf : format) (ge z : Z) (by_scale : bool) (l : list (positive * positive)) (sc : positive * positive) (q : group_plan).

Definition no_pair : positive * positive := (1%positive, 1%positive).
Definition pair_shown (ab : positive * positive) : shown := shown_product (a_is (fst ab)) (b_is (snd ab)).
Definition up_term (s : shown) : Circuit.term := Plus (s_exp s) (Num_ (- s_frac s - units_low q)).
Fixpoint group_bound (t : sum_tree) : Z := match t with Leaf _ _ => leaf_bound q | Partial _ x y => group_bound x + group_bound y end.
Definition in_group (t : sum_tree) : formula := within (group_bound t) (Sg (tree_node t)).
Fixpoint group_tree_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i =>
      let s := pair_shown (nth i l no_pair) in
      let w := Shift (s_sig s) (up_term s) in
      [Claim [] (AtMost (Num_ 0) (up_term s)); Claim [] (Equal (Sg n) (If (s_neg s) (Minus (Num_ 0) w) w)); Claim [] (within (leaf_bound q) (Sg n))]
  | Partial n x y => Claim [in_group x; in_group y] (Equal (Sg n) (Plus (Sg (tree_node x)) (Sg (tree_node y)))) :: group_tree_claims x ++ group_tree_claims y
  end.
Definition group_total : Circuit.term := Sg (tree_node (group_tree q)).
Definition group_shown : shown := Shown Never Never (Less group_total (Num_ 0)) (Abs group_total) (Num_ 0) (- units_low q).
Definition scaled_shown : shown := shown_product (shown_product group_shown (shown_word sf (fst sc))) (shown_word sf (snd sc)).
Definition moved_shown : shown :=
  Shown (s_nan scaled_shown) (s_inf scaled_shown) (s_neg scaled_shown) (s_sig scaled_shown) (Plus (s_exp scaled_shown) (Num_ ge)) (s_frac scaled_shown + ge).
Definition scale_zero (i : positive) : formula := Equal (s_sig (shown_word sf i)) (Num_ 0).
Definition dead : formula :=
  Either (Either (scale_zero (fst sc)) (scale_zero (snd sc))) (if by_scale then Never else all_of (map (fun ab => Equal (s_sig (pair_shown ab)) (Num_ 0)) l)).

Definition group_claims (a : Fused.addend) : list claim :=
  let r := group_number q in
  let known i := [Negation (s_nan (shown_word sf i))] in
  group_tree_claims (group_tree q) ++
  [Claim [in_group (group_tree q)] (Equal (U (size_node q)) (Abs group_total));
   Claim (known (fst sc)) (Equal (U (fst (scale_sigs q))) (s_sig (shown_word sf (fst sc))));
   Claim (known (snd sc)) (Equal (U (snd (scale_sigs q))) (s_sig (shown_word sf (snd sc))))] ++
  number_claims moved_shown [] [] (Times (U (size_node q)) (Times (U (fst (scale_sigs q))) (U (snd (scale_sigs q))))) r ++
  [Claim [finite r] (Equal (exponent (of a)) (If dead (Num_ z) (exponent r)))].

Definition group_fine : bool :=
  (forallb (fun i => (i <? length l)%nat) (places (group_tree q)) && (length (places (group_tree q)) =? length l)%nat &&
   forallb (fun i => existsb (Nat.eqb i) (places (group_tree q))) (seq 0 (length l))) && (bits_below (group_number q) =? s_frac moved_shown).

Section Sound.
Variables (ct : circuit) (v : env) (a : Fused.addend).
Let m := widths_of ct.
Let T := truth m v.
Hypothesis SOL : solution ct v.
Hypothesis OK : group_fine = true.
Hypothesis CL : Forall (holds ct) (group_claims a).
Hypothesis SF : format_ok sf = true /\ match special sf with IEEE => False | _ => True end.
Hypothesis SW : forall i, i = fst sc \/ i = snd sc -> decode sf (v i) = val_of m v (shown_word sf i).

Let pts := map (fun ab => shown_num m v (pair_shown ab)) l.

Lemma group_use r : In r (group_claims a) -> forallb T (given r) = true -> T (goal r) = true.
Proof. intros I G. rewrite Forall_forall in CL. exact (CL r I v SOL G). Qed.
Lemma in_tree_claims r : In r (group_tree_claims (group_tree q)) -> In r (group_claims a).
Proof. intros I. unfold group_claims. cbv zeta. rewrite !in_app_iff. auto. Qed.

Definition unit_count (ab : positive * positive) : Z :=
  let s := pair_shown ab in with_sign (T (s_neg s)) (value m v (s_sig s) * 2 ^ value m v (up_term s)).

Lemma group_tree_is t : (forall r, In r (group_tree_claims t) -> In r (group_claims a)) ->
  sg (width_in m (tree_node t)) (v (tree_node t)) = zsum (map (fun i => unit_count (nth i l no_pair)) (places t)) /\
  - group_bound t <= sg (width_in m (tree_node t)) (v (tree_node t)) <= group_bound t /\ (forall i, In i (places t) -> 0 <= value m v (up_term (pair_shown (nth i l no_pair)))).
Proof.
  induction t as [n i|n x IHx y IHy]; intros Q.
  - pose proof (group_use _ (Q _ (or_introl eq_refl)) eq_refl) as H0. pose proof (group_use _ (Q _ (or_intror (or_introl eq_refl))) eq_refl) as H1. pose proof (group_use _ (Q _ (or_intror (or_intror (or_introl eq_refl)))) eq_refl) as H2.
    cbn [goal] in H0, H1, H2. unfold T in H0, H1, H2. apply truth_within in H2. cbn [value] in H2. change (truth m v (AtMost (Num_ 0) ?s)) with (0 <=? value m v s) in H0. apply Z.leb_le in H0.
    cbn [truth] in H1. apply Z.eqb_eq in H1. cbn [tree_node places map zsum fold_right group_bound].
    assert (U : value m v (If (s_neg (pair_shown (nth i l no_pair))) (Minus (Num_ 0) (Shift (s_sig (pair_shown (nth i l no_pair))) (up_term (pair_shown (nth i l no_pair))))) (Shift (s_sig (pair_shown (nth i l no_pair))) (up_term (pair_shown (nth i l no_pair))))) = unit_count (nth i l no_pair)).
    { unfold unit_count, with_sign, T. cbv zeta. set (s := pair_shown (nth i l no_pair)). change (value m v (If ?f ?p ?r)) with (if truth m v f then value m v p else value m v r). cbv beta. destruct (truth m v (s_neg s)); cbn [value]; lia. }
    rewrite U in H1. cbn [value] in H1. split; [rewrite H1; lia|]. split; [exact H2|]. intros j [<-|[]]. exact H0.
  - destruct IHx as [SX [BX PX]]. { intros r I. apply Q. cbn [group_tree_claims]. right. apply in_or_app. now left. }
    destruct IHy as [SY [BY PY]]. { intros r I. apply Q. cbn [group_tree_claims]. right. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node x)) (Sg (tree_node y)))) = true).
    { apply (group_use (Claim [in_group x; in_group y] (Equal (Sg n) (Plus (Sg (tree_node x)) (Sg (tree_node y)))))). apply Q. now left.
      cbn [given forallb]. unfold T, in_group. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places group_bound]. rewrite H, map_app, zsum_app. split; [lia|]. split; [lia|].
    intros i I. apply in_app_or in I. destruct I; auto.
Qed.

Let n := sg (width_in m (tree_node (group_tree q))) (v (tree_node (group_tree q))).

Lemma group_places : Permutation (seq 0 (length l)) (places (group_tree q)).
Proof.
  unfold group_fine in OK. rewrite !andb_true_iff, !forallb_forall in OK. destruct OK as [[[A B] C] _]. apply Nat.eqb_eq in B.
  apply NoDup_Permutation_bis. apply seq_NoDup. rewrite seq_length, B. auto. intros i Hi. specialize (C i Hi). rewrite existsb_exists in C. destruct C as [j [Hj E]]. apply Nat.eqb_eq in E. now subst.
Qed.

Lemma group_sum_is : (IZR n * bp (units_low q) = exact_sum pts)%R /\ T (in_group (group_tree q)) = true.
Proof.
  destruct (group_tree_is (group_tree q) in_tree_claims) as [S [B P]]. fold n in S, B. split.
  2: { unfold T, in_group. apply truth_within. cbn [value]. exact B. }
  pose proof group_places as PE.
  assert (E : n = zsum (map unit_count l)).
  { rewrite S. rewrite <- (zsum_perm _ _ (Permutation_map _ PE)). f_equal. clear. generalize no_pair. intros d.
    assert (X : forall k (g : positive * positive -> Z), map (fun i => g (nth (i - k) l d)) (seq k (length l)) = map g l).
    { induction l as [|x r IH]; intros k g; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (Datatypes.S k) g). apply map_ext_in. intros i I. apply in_seq in I. replace (i - k)%nat with (Datatypes.S (i - Datatypes.S k)) by lia. reflexivity. }
    rewrite <- (X 0%nat). apply map_ext. intros i. now rewrite Nat.sub_0_r. }
  rewrite E, zsum_Rsum. unfold exact_sum, pts. rewrite !map_map. f_equal. apply map_ext_in. intros ab I.
  apply (In_nth _ _ no_pair) in I. destruct I as [i [L <-]]. assert (U0 : 0 <= value m v (up_term (pair_shown (nth i l no_pair)))) by (apply P; apply (Permutation_in _ PE); apply in_seq; lia).
  set (s := pair_shown (nth i l no_pair)) in *. unfold V, unit_count. fold s. cbv zeta.
  assert (LS : lsb (shown_num m v s) = value m v (up_term s) + units_low q) by (unfold lsb, shown_num, up_term; cbn [exp frac value]; lia).
  rewrite LS, Flocq.Core.Raux.bpow_plus, <- Rmult_assoc. f_equal. rewrite bp_Z by exact U0. rewrite <- mult_IZR. f_equal. unfold with_sign, signed, shown_num, T; cbn [neg sig]. destruct (truth m v (s_neg s)); ring.
Qed.

(** A group's sum, with its scales, of the specification and of the circuit. *)
Lemma group_is md : let '(w, e) := group_term md (map Num pts) [decode sf (v (fst sc)); decode sf (v (snd sc))] in
  alike_val w (val_of m v scaled_shown) /\
  (forall y, w = Num y ->
    let nz := T (scale_zero (fst sc)) || T (scale_zero (snd sc)) in
    let live := existsb (fun p => negb (is_zero p)) pts in
    e = (if is_zero y && live && negb nz then Some (exp y) else None) /\ (is_zero y = false -> live = true /\ nz = false) /\ (nz = true -> is_zero y = true) /\
    (existsb nought [decode sf (v (fst sc)); decode sf (v (snd sc))] = nz)) /\
  (forall t, w <> Inf t).
Proof.
  destruct group_sum_is as [GS _]. unfold group_term.
  assert (NS : numbers (map Num pts) = Some pts).
  { unfold numbers. replace (forallb is_num (map Num pts)) with true. { rewrite map_map. f_equal. apply map_id. } symmetry. apply forallb_forall. intros x I. apply in_map_iff in I. now destruct I as [y [<- _]]. }
  rewrite NS. set (u := least_lsb pts). set (n0 := zsum (map (cut RZ u) pts)). set (one := {| neg := sign_of md n0 pts (map (cut RZ u) pts); sig := Z.abs n0; exp := 0; frac := - u |}).
  set (d0 := {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RZ; p := 0; emin := 0; emax := 0; overflow := Largest; flushes := false; tiny := false; zsign := Positive |} |}).
  assert (VO : V one = exact_sum pts).
  { rewrite <- (exact_total d0 pts eq_refl). change (total d0 pts) with n0. change (unit_of d0 pts) with u. unfold V, signed, lsb, one; cbn [neg sig exp frac]. rewrite Z.sub_opp_r. change (0 + u) with u. f_equal. f_equal.
    unfold sign_of. destruct (Z.eqb_spec n0 0) as [Z0|Z0]; cbn [negb]; [rewrite Z0; match goal with |- context [if ?b then _ else _] => destruct b end; reflexivity|]. destruct (Z.ltb_spec n0 0); lia. }
  assert (VG : V (shown_num m v group_shown) = exact_sum pts).
  { rewrite <- GS. unfold V, signed, lsb, shown_num, group_shown, group_total; cbn [neg sig exp frac s_neg s_sig s_exp s_frac value truth]. fold n. rewrite Z.sub_opp_r. change (0 + units_low q) with (units_low q). f_equal. f_equal. destruct (Z.ltb_spec n 0); lia. }
  assert (VS : val_of m v group_shown = Num (shown_num m v group_shown)) by reflexivity.
  cbn [fold_left]. rewrite (SW (fst sc) (or_introl eq_refl)), (SW (snd sc) (or_intror eq_refl)).
  assert (NI : forall i t, val_of m v (shown_word sf i) <> Inf t).
  { intros i t. unfold val_of. destruct (truth m v (s_nan (shown_word sf i))); [easy|]. replace (truth m v (s_inf (shown_word sf i))) with false; [easy|]. unfold shown_word; cbn [s_inf]. destruct SF as [_ SF']. now destruct (special sf). }
  set (A := val_of m v (shown_word sf (fst sc))) in *. set (B := val_of m v (shown_word sf (snd sc))) in *.
  assert (NA : forall t, A <> Inf t) by apply NI. assert (NB : forall t, B <> Inf t) by apply NI.
  assert (W : alike_val (product (product (Num one) A) B) (val_of m v scaled_shown)).
  { unfold scaled_shown. rewrite <- !product_shown. fold A B. apply product_alike; auto.
    - apply product_alike; auto; [|easy]. rewrite VS. split; [now rewrite VO, VG|reflexivity].
    - apply not_infinite; auto. easy. }
  assert (NW : forall t, product (product (Num one) A) B <> Inf t) by (apply not_infinite; auto; apply not_infinite; auto; easy).
  set (w := product (product (Num one) A) B) in *.
  assert (LV : existsb (fun x => match x with Num y => negb (is_zero y) | _ => false end) (map Num pts) = existsb (fun p => negb (is_zero p)) pts) by (rewrite existsb_map; reflexivity).
  rewrite LV. set (live := existsb (fun p => negb (is_zero p)) pts).
  assert (SZ : forall i y, val_of m v (shown_word sf i) = Num y -> T (scale_zero i) = is_zero y).
  { intros i y H. unfold val_of in H. destruct (truth m v (s_nan _)); [easy|]. destruct (truth m v (s_inf _)); [easy|]. injection H as <-. reflexivity. }
  assert (LIVE : is_zero one = false -> live = true).
  { intros H. apply not_false_is_true. intros N. unfold live in N. assert (X : exact_sum pts = 0%R).
    { clear -N. unfold exact_sum. induction pts as [|x k IH]; auto. cbn [existsb map Rsum fold_right] in *. apply orb_false_elim in N. destruct N as [N1 N2]. apply negb_false_iff in N1. fold (Rsum (map V k)). rewrite (IH N2), (V_zero x N1). ring. }
    rewrite <- VO in X. apply V_nothing in X. congruence. }
  destruct w as [y|t|] eqn:WE.
  - split; [exact W|]. split; [|exact NW]. intros y' Q. injection Q as <-. cbv zeta.
    destruct A as [sa|ta|] eqn:AE; [|now destruct (NA ta)|discriminate WE]. destruct B as [sb|tb|] eqn:BE; [|now destruct (NB tb)|discriminate WE].
    rewrite (SZ (fst sc) sa AE), (SZ (snd sc) sb BE).
    assert (YE : is_zero y = is_zero one || is_zero sa || is_zero sb).
    { unfold w in WE. cbn [product] in WE. injection WE as <-. unfold is_zero, times; cbn [sig]. destruct (Z.eqb_spec (sig one) 0) as [O|O], (Z.eqb_spec (sig sa) 0) as [X|X], (Z.eqb_spec (sig sb) 0) as [Y|Y]; cbn [orb]; try (apply Z.eqb_eq; rewrite ?O, ?X, ?Y; ring).
      apply Z.eqb_neq. intros H. apply Z.mul_eq_0 in H. destruct H as [H|H]; [apply Z.mul_eq_0 in H; tauto|tauto]. }
    cbn [forallb existsb nought]. rewrite andb_true_r, orb_false_r. split; [|split; [|split; [|reflexivity]]].
    + rewrite YE. destruct (is_zero one), live, (is_zero sa), (is_zero sb); reflexivity.
    + intros H. rewrite YE in H. apply orb_false_elim in H. destruct H as [H1 H2]. apply orb_false_elim in H1. destruct H1 as [H0 H1]. split; [now apply LIVE|]. now rewrite H1, H2.
    + intros H. rewrite YE. now destruct (is_zero one), (is_zero sa), (is_zero sb).
  - now destruct (NW t).
  - split; [exact W|]. split; [easy|exact NW].
Qed.

Lemma group_value : val_in v (group_number q) = val_of m v moved_shown.
Proof.
  destruct group_sum_is as [_ GB]. unfold group_fine in OK. rewrite andb_true_iff in OK. destruct OK as [_ B]. apply Z.eqb_eq in B.
  assert (NC : Forall (holds ct) (number_claims moved_shown [] [] (Times (U (size_node q)) (Times (U (fst (scale_sigs q))) (U (snd (scale_sigs q))))) (group_number q))).
  { unfold group_claims in CL. cbv zeta in CL. rewrite !Forall_app in CL. tauto. }
  symmetry. apply (number_sound ct _ [] [] _ _ v NC eq_refl SOL B). intros N I. split; [reflexivity|]. fold m in N, I |- *.
  cbn [moved_shown s_nan s_inf s_sig scaled_shown shown_product truth] in N, I |- *. apply orb_false_elim in N. destruct N as [N _]. apply orb_false_elim in N. destruct N as [N NB_]. apply orb_false_elim in N. destruct N as [N _]. apply orb_false_elim in N. destruct N as [_ NA_].
  assert (H0 : T (Equal (U (size_node q)) (Abs group_total)) = true).
  { apply (group_use (Claim [in_group (group_tree q)] (Equal (U (size_node q)) (Abs group_total)))). - unfold group_claims. cbv zeta. rewrite !in_app_iff. right. left. now left. - cbn [given forallb]. now rewrite GB. }
  assert (H1 : T (Equal (U (fst (scale_sigs q))) (s_sig (shown_word sf (fst sc)))) = true).
  { apply (group_use (Claim [Negation (s_nan (shown_word sf (fst sc)))] (Equal (U (fst (scale_sigs q))) (s_sig (shown_word sf (fst sc)))))). - unfold group_claims. cbv zeta. rewrite !in_app_iff. right. left. right; now left. - cbn [given forallb]. unfold T. cbn [truth]. now rewrite NA_. }
  assert (H2 : T (Equal (U (snd (scale_sigs q))) (s_sig (shown_word sf (snd sc)))) = true).
  { apply (group_use (Claim [Negation (s_nan (shown_word sf (snd sc)))] (Equal (U (snd (scale_sigs q))) (s_sig (shown_word sf (snd sc)))))). - unfold group_claims. cbv zeta. rewrite !in_app_iff. right. left. right; right; now left. - cbn [given forallb]. unfold T. cbn [truth]. now rewrite NB_. }
  unfold T in H0, H1, H2. cbn [truth] in H0, H1, H2. apply Z.eqb_eq in H0, H1, H2. cbn [value] in H0, H1, H2 |- *. rewrite H0, H1, H2. cbn [group_shown s_sig value]. ring.
Qed.

(** A group as a term: with the exponent of its design; whether it keeps that as a zero. *)
Definition moved (w : val) : val := on_num (fun y => at_exponent (exp y + ge) y) w.
Definition is_alive (e : option Z) (scs : list val) : bool := match e with Some _ => true | None => by_scale && negb (existsb nought scs) end.

Lemma V_at e x : V (at_exponent e x) = V x.
Proof. unfold V, at_exponent, signed, lsb; cbn [neg sig exp frac]. do 2 f_equal. lia. Qed.

(** A scaled group's sum, and the exponent with which it takes part, of the specification and of the circuit. *)
Theorem group_enters md : let scs := [decode sf (v (fst sc)); decode sf (v (snd sc))] in
  let '(w, e) := group_term md (map Num pts) scs in
  alike_val (moved w) (val_in v (group_number q)) /\
  (T (finite (group_number q)) = true -> exists y, w = Num y /\ enters_as v z (at_exponent (exp y + ge) y, is_alive e scs) (group_number q, a) /\
    e = (if is_zero y && (match e with Some _ => true | None => false end) then Some (exp y) else None)).
Proof.
  cbv zeta. pose proof (group_is md) as GI. destruct (group_term md (map Num pts) _) as [w e]. destruct GI as [AL [EX NI]].
  assert (VM : alike_val (moved w) (val_in v (group_number q))).
  { rewrite group_value. unfold moved. change (val_of m v moved_shown) with (if T (s_nan scaled_shown) then NaN else if T (s_inf scaled_shown) then Inf (T (s_neg scaled_shown)) else Num (shown_num m v moved_shown)). unfold val_of in AL. fold T in AL.
    destruct (T (s_nan scaled_shown)); [now destruct w|]. destruct (T (s_inf scaled_shown)); [now destruct w|]. destruct w as [y|t|]; try easy. cbn [on_num alike_val] in *. destruct AL as [A1 A2]. rewrite V_at. split.
    - rewrite A1. change (Num {| neg := T (s_neg scaled_shown); sig := value m v (s_sig scaled_shown); exp := value m v (s_exp scaled_shown); frac := s_frac scaled_shown |}) with (Num (shown_num m v scaled_shown)).
      unfold V, signed, lsb, shown_num, moved_shown; cbn [neg sig exp frac s_neg s_sig s_exp s_frac value]. do 2 f_equal. lia.
    - cbn [at_exponent exp] in *. rewrite A2. reflexivity. }
  split; [exact VM|]. intros F. pose proof F as F'. unfold T in F'. rewrite truth_finite in F'. rewrite F' in VM. unfold moved in VM. destruct w as [y|t|]; try easy. exists y. split; auto. cbn [on_num alike_val] in VM. destruct VM as [V1 V2].
  destruct (EX y eq_refl) as [EE [LV [ZZ NO]]]. unfold is_alive. rewrite NO. set (nz := T (scale_zero (fst sc)) || T (scale_zero (snd sc))) in *. set (live := existsb (fun p => negb (is_zero p)) pts) in *.
  assert (DD : T dead = nz || (negb by_scale && negb live)).
  { unfold dead. change (T (Either ?x ?y)) with (T x || T y). f_equal. destruct by_scale; [reflexivity|]. cbn [negb andb]. unfold T. rewrite truth_all, forallb_map. unfold live, pts. rewrite existsb_map. cbn [truth]. clear. induction l as [|x k IH]; auto. cbn [forallb existsb]. rewrite negb_orb, IH, negb_involutive. reflexivity. }
  assert (XE : T (Equal (exponent (of a)) (If dead (Num_ z) (exponent (group_number q)))) = true).
  { apply (group_use (Claim [finite (group_number q)] (Equal (exponent (of a)) (If dead (Num_ z) (exponent (group_number q)))))). - unfold group_claims. cbv zeta. rewrite !in_app_iff. right. right. right. now left. - cbn [given forallb]. now rewrite F. }
  unfold T in XE. cbn [truth] in XE. apply Z.eqb_eq in XE. change (value m v (If dead ?x ?y)) with (if truth m v dead then value m v x else value m v y) in XE. fold T in XE. rewrite DD in XE. cbn [value exponent] in XE.
  assert (ZE : is_zero (at_exponent (exp y + ge) y) = is_zero y) by reflexivity. assert (ZR : is_zero y = is_zero (num_in v (group_number q))) by (rewrite <- ZE; now apply alike_is_zero).
  split.
  - unfold enters_as; cbn [fst snd]. split.
    + rewrite V1. destruct (is_zero y) eqn:Z0.
      * rewrite V_zero by congruence. symmetry. apply V_zero. symmetry. exact ZR.
      * destruct (LV eq_refl) as [L1 L2]. rewrite L1, L2, andb_false_r in XE. cbn [orb] in XE. unfold V, signed, lsb, num_in, faced; cbn [neg sig exp frac sign significand code Finish.low bits_below]. do 2 f_equal. lia.
    + unfold entering_with. rewrite ZE. change (exp (num_in v (faced (group_number q) a))) with (v (code (of a)) + Finish.low (of a)). rewrite XE. change (v (code (group_number q)) + Finish.low (group_number q)) with (exp (num_in v (group_number q))). rewrite <- V2. rewrite EE.
      destruct (is_zero y) eqn:Z0; cbn [andb].
      * destruct live, nz, by_scale; cbn [andb negb orb]; reflexivity.
      * destruct (LV eq_refl) as [-> ->]. now destruct by_scale.
  - rewrite EE. destruct (is_zero y), live, nz; reflexivity.
Qed.
End Sound.
End Group.

(** * Units *)

Inductive group_design := Narrow (d : design) | Broad (w : wide_design).

Definition base_of (gd : group_design) : design := match gd with Narrow d => d | Broad w => base w end.
Definition compute_groups (gd : group_design) (x : words) : Z := match gd with Narrow d => compute d x | Broad w => compute_wide w x end.

(** ** What a design says of its one sum *)

Definition no_conversion : conversion := {| rho := RZ; p := 0; emin := 0; emax := 0; overflow := Largest; flushes := false; tiny := false; zsign := Positive |}.
Definition narrow_sum (d : design) : sum := match sums d with
  | OneSum (Stage s) => s
  | _ => {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := no_conversion |}
  end.
Definition broad_sum (w : wide_design) : wide_sum := match order w with
  | WideStep s _ => s
  | _ => {| term_bits := None; term_cut := TiesUp; c_term_bits := None; c_term_cut := TiesUp; second_bits := None; zeros_at := ZeroNone; leading := false;
            c_decides := true; Wide.room := None; minus_one := None; cut_sum := None; becomes := Stays 0 false |}
  end.
Definition known_bits (o : option Z) : Z := match o with Some f => f | None => 0 end.
Definition zero_at (r : zero_rule) : Z := match r with ZeroAt z => z | _ => 0 end.
Definition mode_by (h : term_mode) : mode := match h with By m => m | TiesUp => RNE end.

Section Rules.
Variable gd : group_design.
Definition sum_bits_of : Z := match gd with Narrow d => known_bits (fraction_bits (narrow_sum d)) | Broad w => known_bits (term_bits (broad_sum w)) end.
Definition sum_drop : Z := match gd with Narrow _ => 0 | Broad w => wide_drop (broad_sum w) sum_bits_of end.
Definition sum_zero : Z := match gd with Narrow d => zero_at (zero_exponent (narrow_sum d)) | Broad w => zero_at (zeros_at (broad_sum w)) end.
Definition sum_conversion : conversion := match gd with
  | Narrow d => out (narrow_sum d)
  | Broad w => match becomes (broad_sum w) with Rounds (Floating k) => k | _ => no_conversion end
  end.
Definition term_mode_of : mode := match gd with Narrow d => alignment (narrow_sum d) | Broad w => mode_by (term_cut (broad_sum w)) end.
Definition c_mode_of : mode := match gd with Narrow d => alignment (narrow_sum d) | Broad w => mode_by (c_term_cut (broad_sum w)) end.
Definition more_exponent : Z := match gd with Narrow _ => 0 | Broad w => group_exponent w end.
Definition dead_by_scale : bool := match gd with Narrow _ => false | Broad w => zero_by_scale w end.
Definition group_mode : mode := match gd with
  | Narrow d => match sums d with OneSum s | CLast _ s _ => rounding_mode (stage_rounding s) | _ => RNE end
  | Broad w => first_mode (order w)
  end.
End Rules.

Fixpoint products_then_c (i : nat) (l : list wide_steps) : option nat :=
  match l with
  | [WideC] => Some i
  | WideProduct k :: r => if (k =? i)%nat then products_then_c (S i) r else None
  | _ => None
  end.
Lemma products_then_c_is l : forall i n, products_then_c i l = Some n -> (i <= n)%nat /\ l = map WideProduct (seq i (n - i)) ++ [WideC].
Proof.
  induction l as [|t l IH]; intros i n H; [easy|]. destruct t as [k| | |]; try easy.
  - cbn [products_then_c] in H. destruct (Nat.eqb_spec k i) as [->|]; [|easy]. destruct (IH _ _ H) as [A B]. split; [lia|]. replace (n - i)%nat with (S (n - S i)) by lia. cbn [seq map app]. now rewrite <- B.
  - destruct l; [|easy]. injection H as <-. rewrite Nat.sub_diag. split; [lia|reflexivity].
Qed.

Record group_unit := GroupUnit {
  a_of_group : list positive; b_of_group : list positive; c_of_group : positive; scales_of_group : list (positive * positive);
  group_plans : list group_plan; group_terms_plan : term_sum; group_ending : Finish.ending; group_result : positive
}.

Definition group_words (u : group_unit) (v : env) : words :=
  {| pairs := combine (map v (a_of_group u)) (map v (b_of_group u)); c_word := v (c_of_group u);
     scale_words := map (fun s => (v (fst s), v (snd s))) (scales_of_group u) |}.

Section Unit.
Variables (gd : group_design) (u : group_unit).
Let d := base_of gd.
Let x := group_terms_plan u.

Definition size_of_group : nat := match cutting_of d with Groups n => n | _ => 1%nat end.
Definition scale_format : format := match Design.scales d with Some (f, _) => f | None => a_format d end.
Definition scale_block : nat := match Design.scales d with Some (_, n) => n | None => 1%nat end.
Definition numbered_pairs : list (nat * (positive * positive)) := numbered 0 (combine (a_of_group u) (b_of_group u)).
Definition groups_of : list (list (nat * (positive * positive))) := cut_list (length numbered_pairs) size_of_group numbered_pairs.
Definition scale_pair (k : nat) : positive * positive := nth (k / scale_block) (scales_of_group u) no_pair.
Definition scales_at (g : list (nat * (positive * positive))) : positive * positive := match g with (k, _) :: _ => scale_pair k | [] => no_pair end.
Definition ga_shown (i : positive) : shown := shown_rule (of_a (factors d)) (shown_word (a_format d) i).
Definition gb_shown (i : positive) : shown := shown_rule (of_b (factors d)) (shown_word (b_format d) i).
Definition gc_shown : shown := shown_rule (c_rule d) (shown_word (c_format d) (c_of_group u)).
Definition c_addend : Fused.addend := List.last (addends (entered x)) absent.
Definition gc_summand : number := List.last (summands x) nobody_summand.
Definition group_entries : list (list (nat * (positive * positive)) * group_plan * Fused.addend) :=
  combine (combine groups_of (group_plans u)) (removelast (addends (entered x))).
Definition group_rule : term_rule :=
  TermRule (term_mode_of gd) (map (fun _ => term_mode_of gd) (group_plans u) ++ [c_mode_of gd]) (sum_bits_of gd) None (sum_drop gd).

Definition claims_of_group (e : list (nat * (positive * positive)) * group_plan * Fused.addend) : list claim :=
  let '(g, q, a) := e in
  group_claims ga_shown gb_shown scale_format (more_exponent gd) (sum_zero gd) (dead_by_scale gd) (map snd g) (scales_at g) q a.
Definition c_group_claims : list claim :=
  let r := gc_summand in
  number_claims gc_shown [] [] (s_sig gc_shown) r ++
  [Claim [finite r] (Equal (exponent (of c_addend)) (If (Equal (U (significand r)) (Num_ 0)) (Num_ (sum_zero gd)) (exponent r)))].
Definition group_unit_claims (m : widths) : list claim :=
  let k := sum_conversion gd in
  let q := plain_round group_rule x in
  flat_map claims_of_group group_entries ++ c_group_claims ++ term_claims_of m group_rule k x ++
  kept_claims k (group_ending u) q ++ outcome_claims k (group_ending u) q ++
  word_claims (d_format d) (Num_ (Design.nan_word d)) (outcome (group_ending u)) (usual k (group_ending u) q) (group_result u).

Definition numbers_only (f : format) (r : flush_rule) : bool := match special f with NoSpecials => true | _ => false end && rule_ok r.
Definition sum_fine : bool := match gd with
  | Narrow e =>
      let s := narrow_sum e in
      one_block e && match sums e with OneSum (Stage _) => true | _ => false end && negb (none_of (fraction_bits s)) &&
      match zero_exponent s with ZeroAt z => (z <=? 1 - bias (c_format e)) && has_zero (c_format e) && rule_ok (c_rule e) | _ => false end &&
      none_of (carry_bits s) && negb (normalise s)
  | Broad w =>
      let s := broad_sum w in
      negb (skips (base w)) && none_of (operand_rounding w) && none_of (a_taken w) && none_of (b_taken w) && negb (none_of (term_bits s)) &&
      match term_cut s, c_term_cut s with By _, By _ => true | _, _ => false end && none_of (c_term_bits s) && none_of (second_bits s) &&
      match zeros_at s with ZeroAt _ => true | _ => false end && negb (leading s) && c_decides s && none_of (Wide.room s) && none_of (minus_one s) &&
      match becomes s with Rounds (Floating _) => true | _ => false end &&
      match order w with WideStep _ l => match products_then_c 0 l with Some n => (n =? length (group_plans u))%nat | None => false end | _ => false end
  end.

Definition group_unit_fine (ct : circuit) : bool :=
  let m := widths_of ct in
  let k := sum_conversion gd in
  circuit_ok ct && sum_fine && match cutting_of d with Groups _ => true | _ => false end && negb (none_of (Design.scales d)) && none_of (converted d) &&
  (exponent_step (factors d) =? 1) && negb (normalise_factors (factors d)) && negb (odd_negated (factors d)) && negb (even_negated (factors d)) &&
  none_of (product_limit (factors d)) && none_of (product_rounding (factors d)) && none_of (zero_terms (factors d)) &&
  numbers_only (a_format d) (of_a (factors d)) && numbers_only (b_format d) (of_b (factors d)) && match special scale_format with IEEE => false | _ => true end &&
  forallb (word_fine m (a_format d)) (a_of_group u) && forallb (word_fine m (b_format d)) (b_of_group u) && word_fine m (c_format d) (c_of_group u) &&
  forallb (fun s => word_fine m scale_format (fst s) && word_fine m scale_format (snd s)) (scales_of_group u) &&
  forallb (fun kx => (fst kx / scale_block <? length (scales_of_group u))%nat) numbered_pairs &&
  (length (a_of_group u) =? length (b_of_group u))%nat && (0 <? length (a_of_group u))%nat && (length (a_of_group u) <=? block d)%nat &&
  (length groups_of =? length (group_plans u))%nat && forallb (fun g => negb (length g =? 0)%nat) groups_of && (length (addends (entered x)) =? S (length (group_plans u)))%nat &&
  numbers_eqb (summands x) (map group_number (group_plans u) ++ [gc_summand]) &&
  forallb (fun e => group_fine scale_format (more_exponent gd) (map snd (fst (fst e))) (scales_at (fst (fst e))) (snd (fst e))) group_entries &&
  (bits_below gc_summand =? s_frac gc_shown) && term_sum_ok m group_rule k x && match zsign k with Positive => true | _ => false end &&
  ending_ok m k (group_ending u) && forallb (in_circuit m) (ending_nodes (group_ending u)) && (bits_below (outcome (group_ending u)) <=? fbits (d_format d)).
End Unit.

Lemma numbered_map {A B} (g : A -> B) (l : list A) : forall i, numbered i (map g l) = map (fun kx => (fst kx, g (snd kx))) (numbered i l).
Proof. induction l as [|a l IH]; intros i; auto. cbn [map numbered fst snd]. now rewrite IH. Qed.
Lemma combined_map {A B C D} (g : A -> C) (h : B -> D) (l : list A) : forall r, combine (map g l) (map h r) = map (fun ab => (g (fst ab), h (snd ab))) (combine l r).
Proof. induction l as [|a l IH]; intros r; auto. destruct r; auto. cbn [map combine fst snd]. now rewrite IH. Qed.

Section UnitSound.
Variables (ct : circuit) (gd : group_design) (u : group_unit) (v : env).
Let m := widths_of ct.
Let d := base_of gd.
Let x := group_terms_plan u.
Let g := group_rule gd u.
Let k := sum_conversion gd.
Let sf := scale_format gd.
Hypothesis OK : group_unit_fine gd u ct = true.
Hypothesis CL : Forall (holds ct) (group_unit_claims gd u m).
Hypothesis SOL : solution ct v.

Record fine_groups : Prop := {
  g_circuit : circuit_ok ct = true;
  g_sum : sum_fine gd u = true;
  g_scales : Design.scales d = Some (sf, scale_block gd) /\ cutting_of d = Groups (size_of_group gd);
  g_factors : converted d = None /\ exponent_step (factors d) = 1 /\ normalise_factors (factors d) = false;
  g_plain : odd_negated (factors d) = false /\ even_negated (factors d) = false /\ product_limit (factors d) = None /\ product_rounding (factors d) = None /\ zero_terms (factors d) = None;
  g_numbers : numbers_only (a_format d) (of_a (factors d)) = true /\ numbers_only (b_format d) (of_b (factors d)) = true /\ match special sf with IEEE => False | _ => True end;
  g_a : forall i, In i (a_of_group u) -> word_fine m (a_format d) i = true;
  g_b : forall i, In i (b_of_group u) -> word_fine m (b_format d) i = true;
  g_c : word_fine m (c_format d) (c_of_group u) = true;
  g_s : forall s, In s (scales_of_group u) -> word_fine m sf (fst s) = true /\ word_fine m sf (snd s) = true;
  g_k : forall kx, In kx (numbered_pairs u) -> (fst kx / scale_block gd < length (scales_of_group u))%nat;
  g_lengths : length (a_of_group u) = length (b_of_group u) /\ (0 < length (a_of_group u) <= block d)%nat;
  g_groups : length (groups_of gd u) = length (group_plans u) /\ (forall l, In l (groups_of gd u) -> l <> []) /\ length (addends (entered x)) = S (length (group_plans u));
  g_summands : summands x = map group_number (group_plans u) ++ [gc_summand u];
  g_entries : forall e, In e (group_entries gd u) -> group_fine sf (more_exponent gd) (map snd (fst (fst e))) (scales_at gd u (fst (fst e))) (snd (fst e)) = true;
  g_frac : bits_below (gc_summand u) = s_frac (gc_shown gd u);
  g_terms : term_sum_ok m g k x = true /\ zsign k = Positive;
  g_end : ending_ok m k (group_ending u) = true /\ (forall i, In i (ending_nodes (group_ending u)) -> fits m v i) /\ bits_below (outcome (group_ending u)) <= fbits (d_format d)
}.

Lemma fine_groups_are : fine_groups.
Proof.
  pose proof OK as O. unfold group_unit_fine in O. cbv zeta in O. fold m d x g k sf in O. rewrite !andb_true_iff in O.
  repeat match goal with H : _ /\ _ |- _ => destruct H end.
  repeat match goal with
    | H : negb _ = true |- _ => apply negb_true_iff in H
    | H : (_ =? _)%nat = true |- _ => apply Nat.eqb_eq in H
    | H : (_ <? _)%nat = true |- _ => apply Nat.ltb_lt in H
    | H : (_ <=? _)%nat = true |- _ => apply Nat.leb_le in H
    | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H
    | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
    | H : forallb _ _ = true |- _ => rewrite forallb_forall in H
    | H : numbers_eqb _ _ = true |- _ => apply numbers_eq in H
  end.
  constructor; auto.
  - unfold sf, scale_format, scale_block, size_of_group. fold d. destruct (Design.scales d) as [[f n]|], (cutting_of d); easy.
  - destruct (converted d); easy.
  - destruct (product_limit (factors d)), (product_rounding (factors d)), (zero_terms (factors d)); easy.
  - split; auto. split; auto. now destruct (special sf).
  - intros s I. match goal with H : forall _, In _ (scales_of_group u) -> _ |- _ => pose proof (H s I) as Q end. now apply andb_prop in Q.
  - intros kx I. match goal with H : forall _, In _ (numbered_pairs u) -> _ |- _ => pose proof (H kx I) as Q end. now apply Nat.ltb_lt in Q.
  - split; auto. split; auto. intros l I. match goal with H : forall _, In _ (groups_of gd u) -> _ |- _ => pose proof (H l I) as Q end. intros ->. discriminate Q.
  - split; auto. now destruct (zsign k).
  - split; auto. split; auto. intros i I. apply (in_map_fits ct v SOL); auto.
Qed.

Lemma gword_is f i : word_fine m f i = true -> decode f (v i) = val_of m v (shown_word f i) /\ 0 <= s_frac (shown_word f i) /\ 0 <= value m v (s_sig (shown_word f i)).
Proof.
  unfold word_fine. rewrite !andb_true_iff, Z.leb_le. intros [[F I] L]. destruct (in_map_fits ct v SOL (g_circuit fine_groups_are) i I) as [A B]. fold m in B.
  split; [apply decode_shown; auto; split; auto; eapply Z.lt_le_trans; [exact B|]; apply Z.pow_le_mono_r; lia|]. now apply word_sig.
Qed.
Lemma gruled f r i : word_fine m f i = true -> flush r (decode f (v i)) = val_of m v (shown_rule r (shown_word f i)).
Proof. intros W. destruct (gword_is f i W) as [-> [A B]]. now apply rule_shown. Qed.
Lemma goperand f i : Design.operand d f (v i) = decode f (v i).
Proof. destruct (g_factors fine_groups_are) as [C [E _]]. unfold Design.operand. now rewrite C, E. Qed.

Lemma plain_shown f r i : numbers_only f r = true -> truth m v (s_nan (shown_rule r (shown_word f i))) = false /\ truth m v (s_inf (shown_rule r (shown_word f i))) = false.
Proof. unfold numbers_only. rewrite andb_true_iff. intros [S _]. unfold shown_word. destruct (special f); try easy. destruct r; split; reflexivity. Qed.

Let the_pair := pair_shown (ga_shown gd) (gb_shown gd).

Lemma plain_pair ab : truth m v (s_nan (the_pair ab)) = false /\ truth m v (s_inf (the_pair ab)) = false.
Proof.
  destruct (g_numbers fine_groups_are) as [A [B _]]. destruct (plain_shown (a_format d) (of_a (factors d)) (fst ab) A) as [A1 A2]. destruct (plain_shown (b_format d) (of_b (factors d)) (snd ab) B) as [B1 B2].
  unfold the_pair, pair_shown, ga_shown, gb_shown. fold d. cbn [shown_product s_nan s_inf truth]. now rewrite A1, A2, B1, B2, andb_false_r.
Qed.

Lemma pair_is kx : In kx (numbered_pairs u) ->
  let a := Design.factor (factors d) (of_a (factors d)) (Design.operand d (a_format d) (v (fst (snd kx)))) in
  let b := Design.factor (factors d) (of_b (factors d)) (Design.operand d (b_format d) (v (snd (snd kx)))) in
  (exists i j, a = Num i /\ b = Num j) /\ forall n, scaled_product (factors d) a b n [] = Num (shown_num m v (the_pair (snd kx))).
Proof.
  intros I. destruct (g_plain fine_groups_are) as [P1 [P2 [P3 [P4 P5]]]]. destruct (g_factors fine_groups_are) as [_ [_ N]]. destruct (g_numbers fine_groups_are) as [NA [NB _]].
  assert (IJ : In (snd kx) (combine (a_of_group u) (b_of_group u))) by (rewrite <- (numbered_snd (combine (a_of_group u) (b_of_group u)) 0); apply in_map; exact I).
  destruct (snd kx) as [i j] eqn:Q. cbn [fst snd]. pose proof (in_combine_l _ _ _ _ IJ) as Ia. pose proof (in_combine_r _ _ _ _ IJ) as Ib.
  cbv zeta. unfold Design.factor. rewrite N, !goperand, (gruled _ _ i (g_a fine_groups_are i Ia)), (gruled _ _ j (g_b fine_groups_are j Ib)).
  change (shown_rule (of_a (factors d)) (shown_word (a_format d) i)) with (ga_shown gd i). change (shown_rule (of_b (factors d)) (shown_word (b_format d) j)) with (gb_shown gd j).
  destruct (plain_shown (a_format d) (of_a (factors d)) i NA) as [A1 A2]. destruct (plain_shown (b_format d) (of_b (factors d)) j NB) as [B1 B2].
  change (shown_rule (of_a (factors d)) (shown_word (a_format d) i)) with (ga_shown gd i) in A1, A2. change (shown_rule (of_b (factors d)) (shown_word (b_format d) j)) with (gb_shown gd j) in B1, B2.
  split.
  - exists (shown_num m v (ga_shown gd i)), (shown_num m v (gb_shown gd j)). unfold val_of. rewrite A1, A2, B1, B2. split; reflexivity.
  - intros n. unfold scaled_product, subtracted. rewrite P1, P2, P3, P4, P5, zero_as_none. replace (if Z.odd n then false else false) with false by now destruct (Z.odd n). cbn [fold_left]. rewrite product_shown.
    destruct (plain_pair (i, j)) as [X1 X2]. change (shown_product (ga_shown gd i) (gb_shown gd j)) with (the_pair (i, j)). unfold val_of. rewrite X1, X2. reflexivity.
Qed.

Definition element_at (kx : nat * (positive * positive)) : element :=
  {| index := Z.of_nat (fst kx); Design.a_word := v (fst (snd kx)); Design.b_word := v (snd (snd kx));
     scaled_by := [decode sf (v (fst (scale_pair gd u (fst kx)))); decode sf (v (snd (scale_pair gd u (fst kx))))] |}.

Lemma gels_are : elements d (group_words u v) = map element_at (numbered_pairs u).
Proof.
  destruct (g_scales fine_groups_are) as [S _]. unfold elements. rewrite S. unfold group_words; cbn [pairs scale_words]. rewrite combined_map, numbered_map, map_map. apply map_ext_in. intros [n [i j]] I. cbn [fst snd].
  pose proof (g_k fine_groups_are _ I) as K. cbn [fst] in K. unfold element_at; cbn [fst snd]. f_equal.
  assert (E : nth (n / scale_block gd) (map (fun s => (v (fst s), v (snd s))) (scales_of_group u)) (0, 0) = (v (fst (scale_pair gd u n)), v (snd (scale_pair gd u n)))).
  { unfold scale_pair. rewrite (nth_indep _ (0, 0) (v (fst no_pair), v (snd no_pair))) by (now rewrite map_length). exact (map_nth (fun s => (v (fst s), v (snd s))) (scales_of_group u) no_pair (n / scale_block gd)). }
  rewrite E. reflexivity.
Qed.

Lemma gels_groups : cut_list (length (elements d (group_words u v))) (size_of_group gd) (elements d (group_words u v)) = map (map element_at) (groups_of gd u).
Proof. rewrite gels_are, map_length. unfold groups_of. now rewrite cut_list_map. Qed.

Lemma group_parts l : In l (groups_of gd u) -> forall kx, In kx l -> In kx (numbered_pairs u).
Proof.
  intros I. pose proof (cut_list_Forall (fun kx => In kx (numbered_pairs u)) (size_of_group gd) (length (numbered_pairs u)) (numbered_pairs u) ltac:(now apply Forall_forall)) as F.
  fold (groups_of gd u) in F. rewrite Forall_forall in F. specialize (F l I). now rewrite Forall_forall in F.
Qed.

Definition scales_in (l : list (nat * (positive * positive))) : list val := [decode sf (v (fst (scales_at gd u l))); decode sf (v (snd (scales_at gd u l)))].
Definition term_in (l : list (nat * (positive * positive))) : val * option Z :=
  group_term (group_mode gd) (map Num (map (fun ab => shown_num m v (the_pair ab)) (map snd l))) (scales_in l).
Definition term_val (l : list (nat * (positive * positive))) : val := moved (more_exponent gd) (fst (term_in l)).
Definition term_alive (l : list (nat * (positive * positive))) : bool := is_alive (dead_by_scale gd) (snd (term_in l)) (scales_in l).

Lemma scales_of_elements l : In l (groups_of gd u) -> match map element_at l with y :: _ => scaled_by y | [] => [] end = scales_in l.
Proof. intros I. destruct (g_groups fine_groups_are) as [_ [NE _]]. specialize (NE l I). destruct l as [|[n ab] l]; [easy|]. reflexivity. Qed.

Lemma group_claims_of e : In e (group_entries gd u) -> Forall (holds ct) (claims_of_group gd u e).
Proof. intros I. unfold group_unit_claims in CL. cbv zeta in CL. rewrite Forall_app in CL. destruct CL as [C _]. apply Forall_forall. intros c J. rewrite Forall_forall in C. apply C. apply in_flat_map. eauto. Qed.

Lemma entry_enters l q a : In (l, q, a) (group_entries gd u) ->
  alike_val (term_val l) (val_in v (group_number q)) /\
  (truth m v (finite (group_number q)) = true -> exists y, fst (term_in l) = Num y /\ enters_as v (sum_zero gd) (at_exponent (exp y + more_exponent gd) y, term_alive l) (group_number q, a) /\
     snd (term_in l) = (if is_zero y && (match snd (term_in l) with Some _ => true | None => false end) then Some (exp y) else None)).
Proof.
  intros I. assert (IL : In l (groups_of gd u)) by (unfold group_entries in I; do 2 apply in_combine_l in I; exact I). destruct (g_groups fine_groups_are) as [_ [NE _]]. specialize (NE l IL).
  assert (SC : In (scales_at gd u l) (scales_of_group u)).
  { destruct l as [|[n ab] l]; [easy|]. cbn [scales_at]. unfold scale_pair. apply nth_In. apply (g_k fine_groups_are (n, ab)). apply (group_parts _ IL). now left. }
  destruct (g_s fine_groups_are _ SC) as [S1 S2]. destruct (g_numbers fine_groups_are) as [_ [_ SS]].
  assert (SF : format_ok sf = true /\ match special sf with IEEE => False | _ => True end) by (split; auto; unfold word_fine in S1; rewrite !andb_true_iff in S1; tauto).
  assert (SW : forall i, i = fst (scales_at gd u l) \/ i = snd (scales_at gd u l) -> decode sf (v i) = val_of m v (shown_word sf i)) by (intros i [Q|Q]; subst i; now apply gword_is).
  pose proof (group_enters (ga_shown gd) (gb_shown gd) sf (more_exponent gd) (sum_zero gd) (dead_by_scale gd) (map snd l) (scales_at gd u l) q ct v a SOL (g_entries fine_groups_are _ I) (group_claims_of _ I) SF SW (group_mode gd)) as GE.
  cbv zeta in GE. unfold term_val, term_alive, term_in, scales_in. fold the_pair in GE. fold m in GE. destruct (group_term _ _ _) as [w e]. exact GE.
Qed.

Let cv := flush (c_rule d) (decode (c_format d) (v (c_of_group u))).
Let C := gc_summand u.

Lemma gc_claims : Forall (holds ct) (c_group_claims gd u).
Proof. unfold group_unit_claims in CL. cbv zeta in CL. rewrite !Forall_app in CL. tauto. Qed.

Lemma gc_is : cv = val_in v C.
Proof.
  unfold cv. rewrite (gruled _ _ _ (g_c fine_groups_are)). change (shown_rule (c_rule d) (shown_word (c_format d) (c_of_group u))) with (gc_shown gd u). pose proof gc_claims as CC. unfold c_group_claims in CC. cbv zeta in CC. rewrite Forall_app in CC. destruct CC as [CC _].
  apply (number_sound ct _ [] [] _ _ v CC eq_refl SOL (g_frac fine_groups_are)). intros _ _. auto.
Qed.

Lemma gc_enters : truth m v (finite C) = true -> cv = Num (num_in v C) /\ enters_as v (sum_zero gd) (num_in v C, false) (C, c_addend u).
Proof.
  intros F. pose proof F as F'. rewrite truth_finite in F'. split; [now rewrite gc_is|]. pose proof gc_claims as CC. unfold c_group_claims in CC. cbv zeta in CC. rewrite Forall_app in CC. destruct CC as [_ CC].
  assert (H : truth m v (Equal (exponent (of (c_addend u))) (If (Equal (U (significand C)) (Num_ 0)) (Num_ (sum_zero gd)) (exponent C))) = true).
  { apply (Forall_inv CC v SOL). cbn [given forallb]. fold C m. now rewrite F. }
  cbn [truth value exponent] in H. apply Z.eqb_eq in H. unfold enters_as, entering_with; cbn [fst snd negb]. rewrite andb_true_r. change (exp (num_in v (faced C (c_addend u)))) with (v (code (of (c_addend u))) + Finish.low (of (c_addend u))). rewrite H.
  change (is_zero (num_in v C)) with (v (significand C) =? 0). split.
  - destruct (v (significand C) =? 0) eqn:Z0.
    + rewrite (V_zero (num_in v C) Z0). symmetry. apply V_zero. exact Z0.
    + unfold V, signed, lsb, num_in, faced; cbn [neg sig exp frac sign significand code Finish.low bits_below]. rewrite H. reflexivity.
  - destruct (v (significand C) =? 0); reflexivity.
Qed.

(** The terms of the sum. *)
Definition spec_terms : list (num * bool) := map (fun l => (num_of (term_val l), term_alive l)) (groups_of gd u) ++ [(num_of cv, false)].
Definition spec_values : list val := map term_val (groups_of gd u) ++ [cv].

Lemma last_addend : addends (entered x) = removelast (addends (entered x)) ++ [c_addend u] /\ length (removelast (addends (entered x))) = length (group_plans u).
Proof.
  destruct (g_groups fine_groups_are) as [_ [_ L]]. assert (NE : addends (entered x) <> []) by (intros Q; rewrite Q in L; discriminate L). pose proof (app_removelast_last absent NE) as A. split; [exact A|].
  rewrite A, app_length in L. simpl in L. lia.
Qed.

Lemma combine_ends {A B} (l : list A) (r : list B) a b : length l = length r -> combine (l ++ [a]) (r ++ [b]) = combine l r ++ [(a, b)].
Proof. revert r. induction l as [|y l IH]; intros r L; destruct r; try easy. cbn [app combine]. f_equal. apply IH. now injection L. Qed.

Lemma spec_values_alike : Forall2 alike_val spec_values (map (val_in v) (summands x)).
Proof.
  destruct (g_groups fine_groups_are) as [LG _]. destruct last_addend as [_ LA]. rewrite (g_summands fine_groups_are), map_app. unfold spec_values. apply Forall2_app.
  - assert (G : forall gs qs (r : list Fused.addend), length gs = length qs -> length r = length qs -> (forall l q a, In (l, q, a) (combine (combine gs qs) r) -> alike_val (term_val l) (val_in v (group_number q))) -> Forall2 alike_val (map term_val gs) (map (val_in v) (map group_number qs))).
    { induction gs as [|l gs IH]; intros qs r A B H; destruct qs as [|q qs], r as [|a r]; try easy; [constructor|]. cbn [map]. constructor; [exact (H l q a (or_introl eq_refl))|]. apply (IH qs r); try (simpl in *; lia). intros. apply (H l0 q0 a0). now right. }
    apply (G _ _ (removelast (addends (entered x)))); auto. intros l q a I. exact (proj1 (entry_enters l q a I)).
  - constructor; [|constructor]. fold C. rewrite <- gc_is. destruct cv; cbn; auto.
Qed.

Lemma terms_enter : Forall (fun r => truth m v (finite r) = true) (summands x) -> Forall2 (enters_as v (sum_zero gd)) spec_terms (combine (summands x) (addends (entered x))).
Proof.
  intros F. destruct (g_groups fine_groups_are) as [LG _]. destruct last_addend as [EA LA]. rewrite (g_summands fine_groups_are) in F |- *. rewrite EA. rewrite combine_ends by (now rewrite map_length). rewrite Forall_app in F. destruct F as [F1 F2]. unfold spec_terms. apply Forall2_app.
  - assert (G : forall gs qs (r : list Fused.addend), length gs = length qs -> length r = length qs -> Forall (fun r => truth m v (finite r) = true) (map group_number qs) -> (forall l q a, In (l, q, a) (combine (combine gs qs) r) -> In (l, q, a) (group_entries gd u)) ->
      Forall2 (enters_as v (sum_zero gd)) (map (fun l => (num_of (term_val l), term_alive l)) gs) (combine (map group_number qs) r)).
    { induction gs as [|l gs IH]; intros qs r A B FF H; destruct qs as [|q qs], r as [|a r]; try easy; [constructor|]. cbn [map combine]. constructor.
      - destruct (entry_enters l q a (H l q a (or_introl eq_refl))) as [_ E]. destruct (E (Forall_inv FF)) as [y [Y [EN _]]]. unfold term_val, moved. rewrite Y. exact EN.
      - apply (IH qs r); try (simpl in *; lia). exact (Forall_inv_tail FF). intros. apply (H l0 q0 a0). now right. }
    apply (G _ _ (removelast (addends (entered x)))); auto.
  - constructor; [|constructor]. destruct (gc_enters (Forall_inv F2)) as [E1 E2]. rewrite E1. exact E2.
Qed.

(** What both specifications make of the terms. *)
Definition spec_sum : val :=
  if forallb is_num spec_values then sum_of_terms (sum_bits_of gd) (sum_drop gd) (sum_zero gd) k (combine (modes g) spec_terms) else special_sum spec_values.

Lemma group_ends : Forall (holds ct) (term_claims_of m g k x) /\ Forall (holds ct) (kept_claims k (group_ending u) (plain_round g x)) /\ Forall (holds ct) (outcome_claims k (group_ending u) (plain_round g x)) /\
  Forall (holds ct) (word_claims (d_format d) (Num_ (Design.nan_word d)) (outcome (group_ending u)) (usual k (group_ending u) (plain_round g x)) (group_result u)).
Proof. unfold group_unit_claims in CL. cbv zeta in CL. rewrite !Forall_app in CL. tauto. Qed.

Lemma spec_word : v (group_result u) = encode (d_format d) (Design.nan_word d) spec_sum.
Proof.
  destruct (g_terms fine_groups_are) as [TO ZS]. destruct (g_end fine_groups_are) as [EO [EN BW]]. destruct group_ends as [C1 [C2 [C3 C4]]]. pose proof (g_circuit fine_groups_are) as CI.
  set (R := convert k false (sum_count ct x v) (top_is x v - unit_bits g)).
  pose proof (plain_sound ct g k x v CI SOL TO C1 (group_ending u) EO EN C2 C3 ZS R (fun _ => ex_intro _ false eq_refl)) as SV.
  pose proof (plain_usual ct g k x v CI SOL TO C1 (group_ending u) EO EN C2 C3) as US.
  rewrite (word_sound ct (d_format d) (Num_ (Design.nan_word d)) (Design.nan_word d) (outcome (group_ending u)) _ (group_result u) v (fun _ => eq_refl) BW C4 SOL US).
  rewrite <- (Unit.encode_same (d_format d) (Design.nan_word d) _ _ SV). f_equal. unfold spec_sum. destruct (alike_numbers _ _ spec_values_alike) as [AN AS]. rewrite AN, AS.
  destruct (numbers_or_none ct v (summands x)) as [N|F].
  - unfold on_numbers. rewrite N. unfold numbers in N. destruct (forallb is_num (map (val_in v) (summands x))); [discriminate N|reflexivity].
  - pose proof (numbers_all ct v (summands x) F) as N. unfold on_numbers. rewrite N. unfold numbers in N. destruct (forallb is_num (map (val_in v) (summands x))); [|discriminate N].
    symmetry. exact (circuit_sum ct g k x v (sum_zero gd) spec_terms CI SOL TO C1 eq_refl F (terms_enter F)).
Qed.

Lemma spec_values_numbers : forallb is_num spec_values = true -> spec_values = map (fun t => Num (fst t)) spec_terms /\ Forall (fun r => truth m v (finite r) = true) (summands x).
Proof.
  intros H. split.
  - unfold spec_values, spec_terms in *. rewrite forallb_app in H. apply andb_prop in H. destruct H as [H1 H2]. rewrite map_app, map_map. cbn [map forallb] in *. rewrite andb_true_r in H2. f_equal.
    + apply map_ext_in. intros l I. rewrite forallb_forall in H1. specialize (H1 _ (in_map term_val _ _ I)). cbn [fst]. now destruct (term_val l).
    + cbn [fst]. now destruct cv.
  - destruct (numbers_or_none ct v (summands x)) as [N|F]; [|exact F]. exfalso. destruct (alike_numbers _ _ spec_values_alike) as [AN _]. rewrite H in AN. unfold numbers in N. rewrite <- AN in N. discriminate N.
Qed.

Let w := group_words u v.

Lemma group_pairs_length : (0 < length (pairs w) <= block d)%nat.
Proof. destruct (g_lengths fine_groups_are) as [L1 L2]. unfold w, group_words; cbn [pairs]. rewrite combine_length, !map_length. lia. Qed.
End UnitSound.

Lemma moved_nothing w : moved 0 w = w.
Proof. destruct w as [y| |]; auto. cbn [moved on_num]. f_equal. destruct y as [s n e f]. unfold at_exponent; cbn [neg sig exp frac]. f_equal; lia. Qed.

Lemma same_modes {A} (q : mode) (l : list A) (r : list mode) : (forall y, In y r -> y = q) -> length r = length l -> combine r l = map (fun t => (q, t)) l.
Proof. revert r. induction l as [|a l IH]; intros r H L; destruct r as [|b r]; try easy. cbn [combine map]. rewrite (H b (or_introl eq_refl)). f_equal. apply IH; [intros; apply H; now right|now injection L]. Qed.

Section NarrowUnit.
Variables (ct : circuit) (d : design) (u : group_unit) (v : env).
Let gd := Narrow d.
Hypothesis OK : group_unit_fine gd u ct = true.
Hypothesis CL : Forall (holds ct) (group_unit_claims gd u (widths_of ct)).
Hypothesis SOL : solution ct v.
Let FG := fine_groups_are ct gd u v OK SOL.
Let s := narrow_sum d.

Lemma narrow_parts : one_block d = true /\ sums d = OneSum (Stage s) /\ fraction_bits s = Some (sum_bits_of gd) /\ zero_exponent s = ZeroAt (sum_zero gd) /\
  (sum_zero gd <= 1 - bias (c_format d) /\ has_zero (c_format d) = true /\ rule_ok (c_rule d) = true) /\ carry_bits s = None /\ normalise s = false.
Proof.
  pose proof (g_sum ct gd u v FG) as S. unfold sum_fine, gd in S. fold s in S. rewrite !andb_true_iff, !negb_true_iff in S. destruct S as [[[[[A B] C] D] E] F].
  split; [exact A|]. split; [unfold s, narrow_sum; destruct (sums d) as [[]| | | | | | | |]; easy|]. split; [unfold sum_bits_of, gd; fold s; destruct (fraction_bits s); easy|].
  unfold sum_zero, gd. fold s. destruct (zero_exponent s) as [| |z]; try easy. rewrite !andb_true_iff, Z.leb_le in D. cbn [zero_at]. destruct (carry_bits s); [easy|]. tauto.
Qed.

Lemma c_exponent : truth (widths_of ct) v (finite (gc_summand u)) = true -> sum_zero gd <= entering_with (sum_zero gd) false (num_in v (gc_summand u)).
Proof.
  intros F. destruct narrow_parts as [_ [_ [_ [_ [[ZB [HZ RO_]] _]]]]]. unfold entering_with. cbn [negb]. rewrite andb_true_r. destruct (is_zero (num_in v (gc_summand u))) eqn:Z0; [lia|].
  pose proof (gc_is ct gd u v OK CL SOL) as E. pose proof F as F'. rewrite truth_finite in F'. rewrite F' in E. rewrite (gruled ct gd u v OK SOL _ _ _ (g_c ct gd u v FG)) in E.
  unfold val_of in E. destruct (truth _ _ (s_nan _)); [discriminate E|]. destruct (truth _ _ (s_inf _)); [discriminate E|]. injection E as _ _ E _. cbn [num_in exp]. rewrite <- E. change (base_of gd) with d.
  assert (SE : s_exp (shown_rule (c_rule d) (shown_word (c_format d) (c_of_group u))) = s_exp (shown_word (c_format d) (c_of_group u))) by (destruct (c_rule d); easy). rewrite SE.
  unfold shown_word; cbn [s_exp]. rewrite HZ. set (e := Bits _ (ebits (c_format d)) _). change (value (widths_of ct) v (If (Equal e (Num_ 0)) ?p ?r)) with (if value (widths_of ct) v e =? 0 then value (widths_of ct) v p else value (widths_of ct) v r).
  assert (E0 : 0 <= value (widths_of ct) v e).
  { unfold e. cbn [value]. pose proof (g_c ct gd u v FG) as W. unfold word_fine, format_ok in W. rewrite !andb_true_iff, !Z.leb_le in W. apply Z.mod_pos_bound. apply pow2_pos. change (base_of gd) with d in W. lia. }
  destruct (Z.eqb_spec (value (widths_of ct) v e) 0); cbn [value]; lia.
Qed.

(** The circuit's word is that of the design, of [Design.v]. *)
Theorem narrow_unit_sound : v (group_result u) = compute d (group_words u v).
Proof.
  destruct narrow_parts as [OB [SS [FB [ZE [_ [CB NM]]]]]]. rewrite (spec_word ct gd u v OK CL SOL). change (base_of gd) with d.
  rewrite (compute_one_block d _ OB (group_pairs_length ct gd u v OK SOL)). f_equal. unfold sum_of_block.
  destruct (g_plain ct gd u v FG) as [_ [_ [_ [_ ZT]]]]. change (base_of gd) with d in ZT. rewrite ZT, zero_as_none. change (Design.c_word (group_words u v)) with (v (c_of_group u)).
  destruct (g_scales ct gd u v FG) as [_ CU]. change (base_of gd) with d in CU. pose proof (gels_groups ct gd u v OK SOL) as GG. change (base_of gd) with d in GG.
  assert (ONE : forall l, In l (groups_of gd u) -> map (fun y => scaled_product (factors d) (a_of d y) (b_of d y) (index y) []) (map (element_at gd u v) l) =
    map Num (map (fun ab => shown_num (widths_of ct) v (pair_shown (ga_shown gd) (gb_shown gd) ab)) (map snd l))).
  { intros l I. rewrite !map_map. apply map_ext_in. intros kx J. destruct (pair_is ct gd u v OK SOL kx (group_parts gd u l I kx J)) as [_ P]. exact (P (index (element_at gd u v kx))). }
  assert (TT : terms d (elements d (group_words u v)) = (map (fun l => fst (term_in ct gd u v l)) (groups_of gd u), omax_list (map (fun l => snd (term_in ct gd u v l)) (groups_of gd u)))).
  { unfold terms. rewrite CU. cbv zeta. rewrite GG, !map_map.
    assert (E : forall (A : Type) (h : val * option Z -> A), map (fun l => h (group_term (match sums d with OneSum s0 | CLast _ s0 _ => rounding_mode (stage_rounding s0) | _ => RNE end)
       (map (fun y => scaled_product (factors d) (a_of d y) (b_of d y) (index y) []) (map (element_at gd u v) l)) (match map (element_at gd u v) l with y :: _ => scaled_by y | [] => [] end))) (groups_of gd u) =
       map (fun l => h (term_in ct gd u v l)) (groups_of gd u)).
    { intros A h. apply map_ext_in. intros l I. f_equal. rewrite (ONE l I), (scales_of_elements ct gd u v OK SOL l I). reflexivity. }
    f_equal; [apply (E val fst)|]. f_equal. apply (E (option Z) snd). }
  rewrite TT, SS. cbn [block_sum].
  set (cv := flush (c_rule d) (decode (c_format d) (v (c_of_group u)))).
  assert (VS : map (fun l => fst (term_in ct gd u v l)) (groups_of gd u) ++ [cv] = spec_values ct gd u v).
  { unfold spec_values. f_equal. apply map_ext. intros l. unfold term_val. change (more_exponent gd) with 0. now rewrite moved_nothing. }
  rewrite VS. unfold spec_sum. destruct (forallb is_num (spec_values ct gd u v)) eqn:AN.
  - destruct (spec_values_numbers ct gd u v OK CL SOL AN) as [E1 F].
    assert (EO : omax_list (map (fun l => snd (term_in ct gd u v l)) (groups_of gd u)) = omax_list (map (fun t => if is_zero (fst t) && snd t then Some (exp (fst t)) else None) (spec_terms ct gd u v))).
    { unfold spec_terms. rewrite map_app, map_map. cbn [map fst snd]. rewrite andb_false_r.
      assert (OA : forall l : list (option Z), omax_list (l ++ [None]) = omax_list l) by (clear; unfold omax_list; induction l as [|o l IH]; auto; cbn [app fold_right]; now rewrite IH).
      rewrite OA. f_equal. apply map_ext_in. intros l I.
      assert (EX : exists q a, In (l, q, a) (group_entries gd u)).
      { unfold group_entries. destruct (g_groups ct gd u v FG) as [LG _]. destruct (last_addend ct gd u v OK SOL) as [_ LA]. revert LG LA I. generalize (groups_of gd u) (group_plans u) (removelast (addends (entered (group_terms_plan u)))). clear. induction l0 as [|y k IH]; intros qs r A B I; [easy|]. destruct qs as [|q qs], r as [|a r]; try easy. destruct I as [->|I].
        - exists q, a. now left. - destruct (IH qs r) as [q' [a' J]]; auto. exists q', a'. now right. }
      destruct EX as [q [a I3]]. destruct (entry_enters ct gd u v OK CL SOL l q a I3) as [_ E].
      assert (FQ : truth (widths_of ct) v (finite (group_number q)) = true).
      { rewrite Forall_forall in F. apply F. rewrite (g_summands ct gd u v FG). apply in_or_app. left. apply in_map. unfold group_entries in I3. apply in_combine_l in I3. exact (in_combine_r _ _ _ _ I3). }
      destruct (E FQ) as [y [Y [_ SE]]]. unfold term_val, term_alive. change (more_exponent gd) with 0. rewrite moved_nothing, Y. cbn [num_of]. unfold is_alive. change (dead_by_scale gd) with false. cbn [andb].
      destruct (snd (term_in ct gd u v l)) as [e|]; [|now rewrite andb_false_r]. exact SE. }
    rewrite EO, E1. rewrite (narrow_terms_sum s (sum_bits_of gd) (sum_zero gd) (spec_terms ct gd u v) FB ZE NM CB (proj2 (g_terms ct gd u v FG))).
    + unfold sum_conversion, sum_drop, gd. fold s. f_equal. apply same_modes.
      * intros y I. unfold group_rule in I. cbn [modes] in I. apply in_app_or in I. destruct I as [I|[<-|[]]]; [apply in_map_iff in I; now destruct I as [_ [<- _]]|reflexivity].
      * unfold group_rule, spec_terms; cbn [modes]. rewrite !app_length, !map_length. destruct (g_groups ct gd u v FG) as [LG _]. unfold gd in LG. rewrite LG. reflexivity.
    + exists (num_of cv, false). split; [unfold spec_terms; apply in_or_app; right; now left|]. assert (FC : truth (widths_of ct) v (finite (gc_summand u)) = true).
      { rewrite Forall_forall in F. apply F. rewrite (g_summands ct gd u v FG). apply in_or_app. right. now left. }
      cbn [fst snd]. pose proof (proj1 (gc_enters ct gd u v OK CL SOL FC)) as CE. change (base_of gd) with d in CE. fold cv in CE. rewrite CE. cbn [num_of]. now apply c_exponent.
  - assert (NN : numbers (spec_values ct gd u v) = None) by (unfold numbers; now rewrite AN).
    destruct (omax_list _); cbn [add_from add]; unfold on_numbers, sum_values; now rewrite NN.
Qed.
End NarrowUnit.

Section BroadUnit.
Variables (ct : circuit) (w : wide_design) (u : group_unit) (v : env).
Let gd := Broad w.
Let d := base w.
Hypothesis OK : group_unit_fine gd u ct = true.
Hypothesis CL : Forall (holds ct) (group_unit_claims gd u (widths_of ct)).
Hypothesis SOL : solution ct v.
Let FG := fine_groups_are ct gd u v OK SOL.
Let s := broad_sum w.

Lemma broad_parts : skips d = false /\ (operand_rounding w = None /\ a_taken w = None /\ b_taken w = None) /\
  wide_plain s (term_mode_of gd) (c_mode_of gd) (sum_bits_of gd) (sum_zero gd) (sum_conversion gd) /\
  order w = WideStep s (map WideProduct (seq 0 (length (group_plans u))) ++ [WideC]).
Proof.
  pose proof (g_sum ct gd u v FG) as S. unfold sum_fine, gd in S. fold s d in S. rewrite !andb_true_iff in S.
  repeat match goal with H : _ /\ _ |- _ => destruct H end. repeat match goal with H : negb _ = true |- _ => apply negb_true_iff in H end.
  split; [assumption|]. split; [destruct (operand_rounding w), (a_taken w), (b_taken w); easy|]. split.
  - unfold wide_plain, term_mode_of, c_mode_of, sum_bits_of, sum_zero, sum_conversion, gd. fold s.
    destruct (term_bits s), (term_cut s), (c_term_cut s), (c_term_bits s), (second_bits s), (zeros_at s), (Wide.room s), (minus_one s), (becomes s) as [[]|]; try easy.
  - unfold s, broad_sum. destruct (order w) as [| | |s' l]; try easy. destruct (products_then_c 0 l) as [n|] eqn:P; [|easy]. destruct (products_then_c_is _ _ _ P) as [_ E]. rewrite Nat.sub_0_r in E. rewrite E. do 3 f_equal.
    match goal with H : (n =? _)%nat = true |- _ => apply Nat.eqb_eq in H; now rewrite H end.
Qed.

Lemma seq_nth {A} (l : list A) (z : A) : map (fun k => nth k l z) (seq 0 (length l)) = l.
Proof.
  assert (X : forall j, map (fun i => nth (i - j) l z) (seq j (length l)) = l).
  { induction l as [|a l IH]; intros j; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (S j)) at 2. apply map_ext_in. intros i I. apply in_seq in I. replace (i - j)%nat with (S (i - S j)) by lia. reflexivity. }
  rewrite <- (X 0%nat) at 2. apply map_ext. intros i. now rewrite Nat.sub_0_r.
Qed.

(** The circuit's word is that of the design, of [Wide.v]. *)
Theorem broad_unit_sound : v (group_result u) = compute_wide w (group_words u v).
Proof.
  destruct broad_parts as [SK [[O1 [O2 O3]] [WP OR]]]. rewrite (spec_word ct gd u v OK CL SOL). change (base_of gd) with d.
  pose proof (group_pairs_length ct gd u v OK SOL) as PL. change (base_of gd) with d in PL.
  set (els := elements d (group_words u v)).
  assert (LE : length els = length (pairs (group_words u v))) by (unfold els, elements; rewrite map_length, <- (map_length snd (numbered 0 _)), numbered_snd; reflexivity).
  unfold compute_wide. fold d els.
  assert (CL1 : cut_list (length els) (block d) els = [els]).
  { destruct els as [|x l] eqn:Q; [cbn [length] in LE; lia|]. cbn [length cut_list]. cbn [length] in LE. rewrite firstn_all2 by (simpl; lia). rewrite skipn_all2 by (simpl; lia). now destruct (length l). }
  rewrite CL1. cbn [fold_left]. unfold wide_block. fold d. rewrite SK. cbn [andb fst snd]. f_equal. change (Design.c_word (group_words u v)) with (v (c_of_group u)). set (cv := flush (c_rule d) (decode (c_format d) (v (c_of_group u)))).
  destruct (g_scales ct gd u v FG) as [_ CU]. change (base_of gd) with d in CU. pose proof (gels_groups ct gd u v OK SOL) as GG. change (base_of gd) with d in GG. fold els in GG.
  destruct (g_factors ct gd u v FG) as [_ [_ NF]]. change (base_of gd) with d in NF. destruct (g_plain ct gd u v FG) as [_ [_ [_ [PR _]]]]. change (base_of gd) with d in PR.
  assert (PRD : forall l, In l (groups_of gd u) -> map (fun y => Wide.its (wide_product w y [])) (map (element_at gd u v) l) =
    map Num (map (fun ab => shown_num (widths_of ct) v (pair_shown (ga_shown gd) (gb_shown gd) ab)) (map snd l))).
  { intros l I. rewrite !map_map. apply map_ext_in. intros kx J. destruct (pair_is ct gd u v OK SOL kx (group_parts gd u l I kx J)) as [[i [j [AI BJ]]] P].
    change (base_of gd) with d in AI, BJ, P. unfold wide_product. fold d.
    assert (WF : forall r x, wide_factor w r x = Design.factor (factors d) r x) by (intros; unfold wide_factor, Design.factor; fold d; now rewrite O1). rewrite !WF.
    change (Design.a_word (element_at gd u v kx)) with (v (fst (snd kx))). change (Design.b_word (element_at gd u v kx)) with (v (snd (snd kx))). rewrite AI, BJ in *. rewrite O2, O3. cbn [taken Wide.its]. exact (P _). }
  assert (TS : wide_terms w els = map (fun l => {| Wide.its := term_val ct gd u v l; alive := term_alive ct gd u v l |}) (groups_of gd u)).
  { unfold wide_terms. fold d. rewrite CU, GG, map_map. apply map_ext_in. intros l I. unfold wide_group. rewrite (PRD l I), (scales_of_elements ct gd u v OK SOL l I).
    unfold term_val, term_alive, term_in. change (group_mode gd) with (first_mode (order w)). destruct (group_term _ _ _) as [y e]. reflexivity. }
  rewrite TS, OR. set (ts := map _ (groups_of gd u)).
  assert (LT : length ts = length (group_plans u)) by (unfold ts; rewrite map_length; apply (g_groups ct gd u v FG)).
  assert (EV : eval_wide (c_rule d) ts cv (WideStep s (map WideProduct (seq 0 (length (group_plans u))) ++ [WideC])) = add_wide s (map (fun t => (t, false)) ts ++ [(plain cv, true)])).
  { cbn [eval_wide]. f_equal. rewrite map_app, map_map. cbn [map eval_wide]. f_equal. rewrite <- LT. rewrite <- (map_map (fun k => nth k ts (plain NaN)) (fun t => (t, false))). now rewrite seq_nth. }
  rewrite EV. unfold add_wide.
  assert (VS : map (fun y : Wide.term * bool => Wide.its (fst y)) (map (fun t => (t, false)) ts ++ [(plain cv, true)]) = spec_values ct gd u v).
  { unfold spec_values, ts. rewrite map_app, !map_map. reflexivity. }
  rewrite VS. unfold spec_sum. destruct (forallb is_num (spec_values ct gd u v)) eqn:AN; [|reflexivity].
  rewrite (wide_terms_sum s (term_mode_of gd) (c_mode_of gd) (sum_bits_of gd) (sum_zero gd) (sum_conversion gd) _ WP (proj2 (g_terms ct gd u v FG))).
  - change (wide_drop s (sum_bits_of gd)) with (sum_drop gd). f_equal. rewrite map_map, map_app, map_map. cbn [map is_c fst snd Wide.number counts_at_zero plain Wide.its alive]. unfold spec_terms, group_rule; cbn [modes].
    rewrite combine_ends by (rewrite !map_length; symmetry; apply (g_groups ct gd u v FG)). f_equal. rewrite (same_modes (term_mode_of gd)).
    + unfold ts. rewrite !map_map. reflexivity.
    + intros y I. apply in_map_iff in I. now destruct I as [_ [<- _]].
    + rewrite !map_length. symmetry. apply (g_groups ct gd u v FG).
  - destruct (fine_terms_are ct (group_rule gd u) (sum_conversion gd) (group_terms_plan u) v (g_circuit ct gd u v FG) SOL (proj1 (g_terms ct gd u v FG))) as [_ _ _ _ DR _]. change (wide_drop s (sum_bits_of gd)) with (dropped (group_rule gd u)). lia.
  - intros Q. apply (f_equal (@length _)) in Q. rewrite map_length, app_length in Q. simpl in Q. lia.
Qed.
End BroadUnit.

(** A unit computes what its design does, for all words; with the claims as they were certified. *)
Theorem group_words_to_words ct gd u certified : group_unit_fine gd u ct = true -> claims_eqb (group_unit_claims gd u (widths_of ct)) certified = true ->
  Forall (holds ct) certified -> forall v, solution ct v -> v (group_result u) = compute_groups gd (group_words u v).
Proof.
  intros OK E. rewrite <- (claims_are _ _ E). intros CL v SOL. destruct gd as [d|w]; cbn [compute_groups]; [eapply narrow_unit_sound|eapply broad_unit_sound]; eauto.
Qed.
