(** Signs of zeros that are not seen, because no sum but zero is rounded to zero. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes.
Import ListNotations.
Open Scope Z_scope.

Definition with_zsign (c : conversion) (z : zero_sign) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := flushes c; tiny := tiny c; zsign := z |}.

(** Where a sum is not rounded to zero unless it is one, its sign is not seen under [SumSign]. *)
Lemma positive_same c s n u : zsign c = SumSign -> flushes c = false ->
  (n <> 0 -> round_div (rho c) n (last_bit c n u - u) <> 0) -> convert (with_zsign c Positive) s n u = convert c s n u.
Proof.
  intros Z F H. unfold convert. change (last_bit (with_zsign c Positive) n u) with (last_bit c n u). cbn [rho flushes with_zsign zsign emin emax p].
  change (is_infinite (with_zsign c Positive) n) with (is_infinite c n). rewrite Z, F. cbn [andb]. rewrite orb_false_r.
  destruct (Z.eqb_spec (round_div (rho c) n (last_bit c n u - u)) 0) as [R|R]; auto.
  destruct (Z.eqb_spec n 0) as [|N]; auto. now destruct (H N).
Qed.

Definition multiple (g : Z) (x : num) : Prop := exists k, V x = (IZR k * bp g)%R.

Lemma fix_multiple m u k : fix_rnd m u (IZR k * bp u) = (IZR k * bp u)%R.
Proof.
  unfold fix_rnd. apply round_generic; auto with typeclass_instances. apply generic_format_FIX. now exists (Defs.Float radix2 k u).
Qed.

Lemma scaled_multiple k u g : g <= u -> exists j, (IZR k * bp u = IZR j * bp g)%R.
Proof.
  intros L. exists (k * 2 ^ (u - g)). rewrite mult_IZR, <- bp_Z by lia. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma total_multiple s g ts : carry_bits s = None -> g <= unit_of s ts \/ Forall (multiple g) ts \/ forallb is_zero ts = true ->
  exists k, (IZR (total s ts) * bp (unit_of s ts) = IZR k * bp g)%R.
Proof.
  intros K H. unfold total. rewrite K. set (u := unit_of s ts) in *. destruct (Z_le_gt_dec g u) as [L|L]; [now apply scaled_multiple|].
  destruct H as [H|[H|H]]; [lia| |].
  - unfold counts. fold u. clearbody u. induction H as [|x r [k Hx] H IH]; cbn [map]; [exists 0; cbn; ring|].
    destruct IH as [j Hj]. exists (k + j). change (zsum (?a :: ?l)) with (a + zsum l). rewrite plus_IZR, Rmult_plus_distr_r, Hj, cut_ok, Hx.
    destruct (scaled_multiple k g u) as [i Hi]; [lia|]. rewrite Hi at 1. rewrite fix_multiple, <- Hi, plus_IZR. ring.
  - unfold counts. rewrite zeros_count by auto. exists 0. rewrite zsum_zeros. ring.
Qed.

Lemma round_one m : round_div m 1 0 = 1 /\ round_div m (-1) 0 = -1.
Proof. split; reflexivity. Qed.

Lemma round_big m k j : k <> 0 -> 0 <= j <= Z.log2 (Z.abs k) -> round_div m k j <> 0.
Proof.
  intros N L. assert (G : 2 ^ j <= Z.abs k) by (eapply Z.le_trans; [apply Z.pow_le_mono_r; [lia|apply L]|apply Z.log2_spec; lia]).
  assert (P : (0 < bp (- j))%R) by apply bpow_gt_0.
  assert (O : (bp j * bp (- j) = 1)%R) by (rewrite <- bpow_plus; replace (j + - j) with 0 by lia; reflexivity).
  destruct (Z_lt_le_dec 0 k) as [K|K].
  - assert (H : round_div m 1 0 <= round_div m k j).
    { apply round_div_le. change (bp (- 0)) with 1%R. assert (bp j <= IZR k)%R by (rewrite bp_Z by lia; apply IZR_le; lia). nra. }
    destruct (round_one m) as [R1 _]. rewrite R1 in H. lia.
  - assert (H : round_div m k j <= round_div m (-1) 0).
    { apply round_div_le. change (bp (- 0)) with 1%R. assert (IZR k <= - bp j)%R by (rewrite bp_Z, <- opp_IZR by lia; apply IZR_le; lia). nra. }
    destruct (round_one m) as [_ R1]. rewrite R1 in H. lia.
Qed.

Lemma never_zero c n u k : 0 <= p c -> (IZR n * bp u = IZR k * bp (emin c - p c))%R -> n <> 0 ->
  round_div (rho c) n (last_bit c n u - u) <> 0.
Proof.
  intros P H N. pose proof (scaled_zero _ _ _ _ H) as H0. assert (K : k <> 0) by (destruct (Z.eqb_spec n 0), (Z.eqb_spec k 0); congruence).
  set (g := emin c - p c) in *.
  assert (E : last_bit c n u = last_bit c k g) by now rewrite !last_bit_ok, H by easy.
  assert (D : round_div (rho c) n (last_bit c n u - u) = round_div (rho c) k (last_bit c k g - g)).
  { rewrite !round_div_ok, E. f_equal.
    replace (- (last_bit c k g - u)) with (u + - last_bit c k g) by lia.
    replace (- (last_bit c k g - g)) with (g + - last_bit c k g) by lia.
    rewrite !bpow_plus, <- !Rmult_assoc. now rewrite H. }
  rewrite D. clear D E H H0 N n u. unfold last_bit. destruct (Z.eqb_spec k 0); [easy|].
  apply round_big; auto. pose proof (Z.log2_nonneg (Z.abs k)). unfold g. lia.
Qed.

Lemma convert_multiple c s n u z : 0 <= p c -> emin c <= emax c -> convert c s n u = Num z -> multiple (emin c - p c) z.
Proof.
  intros P M H. destruct (convert_shape _ _ _ _ _ P M H) as [X S]. unfold multiple, V, lsb.
  destruct S as [[F _]|[F G]].
  - rewrite F. apply scaled_multiple. lia.
  - rewrite F. assert (Q : exists i, (IZR (signed z) * bp (exp z - (p c + 1)) = IZR i * bp (exp z - p c))%R).
    { exists (if neg z then - 2 ^ p c else 2 ^ p c). unfold signed. rewrite G.
      replace (exp z - p c) with (1 + (exp z - (p c + 1))) by lia. rewrite (bpow_plus radix2 1). change (bp 1) with 2%R.
      assert (T : (IZR (2 ^ (p c + 1)) = IZR (2 ^ p c) * 2)%R) by (rewrite Z.pow_add_r, mult_IZR by lia; reflexivity).
      destruct (neg z); rewrite ?opp_IZR, T; ring. }
    destruct Q as [i Hi]. rewrite Hi. apply scaled_multiple. lia.
Qed.

(** Either every number that a sum takes is a multiple of the least result, or every unit of a sum is. *)
Definition never_vanishes (d : design) (s : sum) (t : facts) : bool :=
  let g := emin (out s) - p (out s) in
  ((g <=? low t - bits t) && (g <=? least (start_format d) - fbits (start_format d))) ||
  match fraction_bits s with
  | Some f => negb (normalise s) && (g + f <=? Z.min (low t) (Z.min (least (start_format d)) (emin (out s))))
  | None => false
  end.

Definition sign_free (d : design) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t => sound d s && never_vanishes d s t && negb (flushes (out s)) &&
      match carry_bits s with None => true | _ => false end && match zsign (out s) with SumSign => true | _ => false end
  | _, _ => false
  end.

Lemma has_multiple t g x : has t x -> g <= low t - bits t -> multiple g x.
Proof. intros [_ [B L]] G. unfold multiple, V, lsb. apply scaled_multiple. lia. Qed.

Lemma flush_multiple r g v x : kept_or_zero r = true -> (forall y, v = Num y -> multiple g y) -> flush r v = Num x -> multiple g x.
Proof.
  intros K H E. destruct v as [y| |]; try easy. unfold flush in E. destruct (negb (is_subnormal y)); [apply H; congruence|].
  destruct r; try easy; [apply H; congruence| |]; injection E as <-; exists 0; unfold V, signed; cbn; destruct (neg y); cbn; ring.
Qed.

Theorem zero_sign_idle d s w : sum_of d = Some s -> sign_free d = true -> pairs w <> [] ->
  compute d w = compute (with_sum d (with_out s (with_zsign (out s) Positive))) w.
Proof.
  intros S O N. unfold sign_free in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[[Sd NV] Fl] K] Zs]. unfold sound in Sd. repeat rewrite andb_true_iff in Sd.
  destruct Sd as [[[[[[ON PO] B] Oc] Kc] P] EM]. apply negb_true_iff in Fl. destruct (carry_bits s) eqn:Ks; [easy|]. clear K.
  destruct (zsign (out s)) eqn:Z; try easy. clear Zs.
  set (s' := with_out s (with_zsign (out s) Positive)). set (d' := with_sum d s').
  assert (S' : sum_of d' = Some s').
  { unfold sum_of in *. cbn. destruct (sums d) as [[?|]| | | | | | | |]; try easy. destruct (cutting_of d); try easy. now destruct (skips d). }
  set (g := emin (out s) - p (out s)).
  set (C := fun v => good_c s (start_format d) v /\ forall x, v = Num x -> g <= least (start_format d) - fbits (start_format d) -> multiple g x).
  symmetry. apply (compute_alike d d' C); auto.
  - repeat split.
  - lia.
  - intros b v Lb Hb [Gv Mv]. rewrite (block_value_one d s _ _ S), (block_value_one d' s' _ _ S').
    change (block_products d' b) with (block_products d b). change (taken_c d' v) with (taken_c d v).
    pose proof (block_products_has d t b T Hb) as Hp. pose proof (term_facts_zero d t T) as Zt.
    assert (Gc : good_c s (start_format d) (taken_c d v)) by (rewrite taken_kept by auto; now apply flush_good).
    assert (R : C (sum_values s (block_products d b ++ [taken_c d v]))).
    { split; [apply sum_good; lia|]. intros x Hx _. unfold sum_values in Hx. destruct (numbers _); [|exfalso; now apply (special_not_num _ x Hx)].
      eapply convert_multiple; eauto; lia. }
    split; auto. unfold sum_values. destruct (numbers (block_products d b ++ [taken_c d v])) as [ts|] eqn:Nu; auto.
    destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ec Eu]]]]. rewrite Eu in Hp. apply has_numbers in Hp. rewrite Ec in Gc. destruct (Gc x eq_refl) as [_ Lx].
    unfold sum_numbers. change (total s' (us ++ [x])) with (total s (us ++ [x])). change (unit_of s' (us ++ [x])) with (unit_of s (us ++ [x])).
    change (counts s' (us ++ [x])) with (counts s (us ++ [x])). cbn [out s' with_out]. change (rho (with_zsign (out s) Positive)) with (rho (out s)).
    apply positive_same; auto. intros Nn.
    assert (M : exists k, (IZR (total s (us ++ [x])) * bp (unit_of s (us ++ [x])) = IZR k * bp g)%R).
    { apply total_multiple; auto. unfold never_vanishes in NV. apply orb_prop in NV. destruct NV as [NV|NV].
      - apply andb_prop in NV. destruct NV as [N1 N2]. apply Z.leb_le in N1, N2. right. left. apply Forall_app. split.
        + eapply Forall_impl; [|exact Hp]. intros y Hy. now apply (has_multiple t).
        + constructor; [|constructor]. rewrite taken_kept in Ec by auto. eapply flush_multiple; eauto.
      - destruct (fraction_bits s) as [f|] eqn:Fs; [|easy]. apply andb_prop in NV. destruct NV as [Nn' NV]. apply negb_true_iff in Nn'. apply Z.leb_le in NV.
        destruct (forallb is_zero (us ++ [x])) eqn:Az; [now right; right|]. left.
        assert (exists y, In y (us ++ [x]) /\ is_zero y = false) as [y [Hy Ny]].
        { clear -Az. induction (us ++ [x]) as [|a l IH]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *.
          - destruct IH as [y [? ?]]; auto. exists y; auto.
          - exists a; auto. }
        pose proof (largest_in s _ y Hy) as Ly. unfold term_exponent in Ly. rewrite Ny, Nn' in Ly. unfold unit_of. rewrite Fs.
        destruct (largest s (us ++ [x])) as [e|]; cbn in Ly; [|easy].
        assert (Z.min (low t) (Z.min (least (start_format d)) (emin (out s))) <= exp y).
        { apply in_app_or in Hy. destruct Hy as [Hy|[<-|[]]]; [|lia]. rewrite Forall_forall in Hp. destruct (Hp y Hy) as [_ [_ Q]]. lia. }
        unfold g. lia. }
    destruct M as [k Hk]. now apply (never_zero (out s) _ _ k); [lia| |].
  - split; [apply (start_good d s w); auto; lia|]. intros x Hx L.
    assert (Q : forall f word, format_ok f = true -> g <= least f - fbits f -> decode f word = Num x -> multiple g x).
    { intros f word F L' Dw. destruct (decode_num _ _ _ F Dw) as [_ [Fr [Le _]]]. unfold multiple, V, lsb. rewrite Fr. apply scaled_multiple. lia. }
    exact (Q _ _ Oc L Hx).
Qed.
